"""What a cell does to the names of its notebook."""

import ast


class Names(ast.NodeVisitor):
    """The names that a cell uses, and those that it binds."""

    def __init__(self, tree):
        self.used, self.bound = set(), set()
        self.visit(tree)

    def visit_Name(self, node):
        bound = isinstance(node.ctx, (ast.Store, ast.Del))
        (self.bound if bound else self.used).add(node.id)

    def visit_arg(self, node):
        self.bound.add(node.arg)

    def visit_FunctionDef(self, node):
        self.bound.add(node.name)
        self.generic_visit(node)

    visit_ClassDef = visit_FunctionDef

    def visit_Import(self, node):
        self.bound |= {(n.asname or n.name).partition(".")[0] for n in node.names}

    visit_ImportFrom = visit_Import
