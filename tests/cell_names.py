"""What a cell does to the names of its notebook."""

import ast


class Names(ast.NodeVisitor):
    """The names that a cell uses, binds, imports, and whose objects it may change."""

    def __init__(self, source):
        self.used, self.bound, self.imported = set(), set(), set()
        self.changed, self.global_effect = set(), False
        self.visit(ast.parse(source) if isinstance(source, str) else source)

    def visit_Name(self, node):
        bound = isinstance(node.ctx, (ast.Store, ast.Del))
        (self.bound if bound else self.used).add(node.id)

    def visit_arg(self, node):
        self.bound.add(node.arg)

    def visit_FunctionDef(self, node):
        self.bound.add(node.name)
        self.global_effect |= bool(node.decorator_list) and "Register" in ast.dump(node)
        self.generic_visit(node)

    def visit_ClassDef(self, node):
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_Import(self, node):
        for name in node.names:
            self.imported.add((name.asname or name.name).partition(".")[0])
        self.bound |= self.imported

    visit_ImportFrom = visit_Import

    def visit_Attribute(self, node):
        if "seed" in node.attr:
            self.global_effect = True
        self.changes(node)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.changes(node)
        self.generic_visit(node)

    def changes(self, node):
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name):
            self.changed.add(node.id)
