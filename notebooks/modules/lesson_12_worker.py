"""What lesson 12 runs in other processes: a friend's programs."""

import os
import re
import sys


def attempt(connection, program, calls, folder):
    """Run a program in a folder; send what these calls return, or their errors."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    exec(program, names := {})
    found = []
    for call in calls:
        try:
            said = eval(call, names)
        except Exception as error:  # its essential words
            said = re.sub(r"\x1b\[\d*m", "", str(error))  # Keras writes in bold
            start = r"encountered:\s+|unavailable>\n|Tensor; |\.call\(\)\.\s+"
            said = re.split(start, said)[-1]
            said = re.split(
                r"\. |\n| in binary| for operation|(?<=class) '|(?<=registered) '| \(I",
                said,
            )[0]
        found.append(said)
    connection.send(found)
