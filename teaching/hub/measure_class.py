"""Let a class of N students work on one hub, and measure what it takes.

    python teaching/hub/measure_class.py --users 1 5 10 --lesson 01

For each N, a hub is started on loopback with jupyterhub_config.py. N students log in
as a browser does, all at once; then all open a kernel; then all run the lesson, cell
by cell. Printed is a table: how long each part took, how much memory the class and
its hub needed at most, who failed, and whether every student saw the numbers that
are stored in the lesson.
"""

import argparse
import json
import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
import requests
import websocket

PROJECT = Path(__file__).resolve().parents[2]
CONFIG = Path(__file__).with_name("jupyterhub_config.py")
HAND_OUT = PROJECT / "teaching" / "hand_out.py"
PATIENCE = 900  # seconds for a server to start, or a cell to run, on a full machine
MB = 1e6
PARTS = ("log in", "open a kernel", "run the lesson")


@dataclass
class Result:
    """What a class of one size saw."""

    users: int
    lesson: str
    load: float  # of the machine before, in processes that want to run
    seconds: dict = field(default_factory=dict)  # part -> one number per student
    memory: dict = field(default_factory=dict)  # who -> most bytes at one time
    failures: list = field(default_factory=list)  # sentences
    outputs: dict = field(default_factory=dict)  # student -> {cell id: text}
    differences: list = field(default_factory=list)  # sentences
    log: str = ""  # what the hub and all its servers said

    @property
    def same(self):
        return len(self.outputs) == self.users and not self.differences


class Student:
    """One user of the hub, with cookies like a browser's."""

    def __init__(self, hub, name, password):
        self.hub, self.name, self.password = hub, name, password
        self.url = f"{hub}/user/{name}"
        self.web = requests.Session()
        self.web.trust_env = False  # no proxy of the machine between us and loopback
        self.socket = None

    def log_in(self):
        """Log in, and wait until the server of one's own is there."""
        page = self.get(f"{self.hub}/hub/login")
        answer = self.web.post(
            page.url,
            data={
                "username": self.name,
                "password": self.password,
                "_xsrf": self.cookie("_xsrf", "/hub/"),
            },
            timeout=PATIENCE,
        )
        if not self.cookie("jupyterhub-session-id", "/"):
            raise RuntimeError(f"the hub refused the log-in: {answer.status_code}")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            # This starts the server, waits for it, and leads into it once it runs.
            answer = self.get(f"{self.hub}/hub/spawn", allow_errors=True)
            if answer.ok and answer.url.startswith(self.url):
                return
            if answer.status_code >= 500 and answer.status_code != 503:
                raise RuntimeError(f"no server: {answer.status_code} {answer.url}")
            time.sleep(2)
        raise TimeoutError(f"no server after {PATIENCE} s: {answer.url}")

    def open_kernel(self, notebook):
        """Open the notebook's session, as JupyterLab does, and hear its kernel."""
        answer = self.web.post(
            f"{self.url}/api/sessions",
            json={
                "path": notebook,
                "name": notebook,
                "type": "notebook",
                "kernel": {"name": "python3"},
            },
            headers={"X-XSRFToken": self.cookie("_xsrf", f"/user/{self.name}/")},
            timeout=PATIENCE,
        )
        answer.raise_for_status()
        kernel = answer.json()["kernel"]["id"]
        address = f"{self.url}/api/kernels/{kernel}/channels"
        asked = requests.Request("GET", address)
        cookies = self.web.prepare_request(asked).headers["Cookie"]
        self.socket = websocket.create_connection(
            address.replace("http", "ws", 1),
            header=[f"Cookie: {cookies}"],
            timeout=PATIENCE,
            http_no_proxy=["127.0.0.1"],
        )
        found = self.execute("print(6 * 7)")
        if found != [("stdout", "42\n")]:
            raise RuntimeError(f"the kernel answers {found}")

    def read(self, notebook):
        """The notebook in the student's own home."""
        answer = self.get(f"{self.url}/api/contents/{notebook}")
        return nbformat.from_dict(answer.json()["content"])

    def execute(self, code):
        """What the code puts out: pairs of what it is, and its text."""
        asked = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request"}
        asked |= {"username": self.name, "session": uuid.uuid4().hex, "version": "5.3"}
        content = {"code": code, "silent": False, "allow_stdin": False}
        message = {"header": asked, "parent_header": {}, "metadata": {}}
        message |= {"content": content, "channel": "shell", "buffers": []}
        self.socket.send(json.dumps(message))
        found, waiting_for = [], {"idle", "execute_reply"}
        while waiting_for:
            text = self.socket.recv()
            if not text:
                raise RuntimeError("the server closed the connection to the kernel")
            heard = json.loads(text)
            if heard["parent_header"].get("msg_id") != asked["msg_id"]:
                continue
            kind, content = heard["msg_type"], heard["content"]
            if kind == "execute_reply":
                waiting_for.discard(kind)
            elif kind == "status":
                waiting_for.discard(content["execution_state"])
                if content["execution_state"] in ("restarting", "dead"):
                    raise RuntimeError("the kernel died")
            elif kind == "stream":
                found.append((content["name"], content["text"]))
            elif kind == "error":
                found.append(("error", f"{content['ename']}: {content['evalue']}\n"))
            elif kind in ("display_data", "execute_result"):
                found.append((kind, content["data"].get("text/plain", "") + "\n"))
        return found

    def run(self, notebook):
        """Run the lesson as it was handed out; return what each cell put out."""
        outputs = {}
        for cell in self.read(notebook).cells:
            if cell.cell_type != "code":
                continue
            found = self.execute(cell.source)
            errors = [text for kind, text in found if kind == "error"]
            if errors and "raises-exception" not in cell.metadata.get("tags", []):
                raise RuntimeError(f"cell {cell.id} failed: {errors[0].strip()}")
            outputs[cell.id] = as_seen(found)
        return outputs

    def get(self, url, allow_errors=False):
        answer = self.web.get(url, timeout=PATIENCE)
        if not allow_errors:
            answer.raise_for_status()
        return answer

    def cookie(self, name, path):
        for cookie in self.web.cookies:
            if cookie.name == name and cookie.path == path:
                return cookie.value
        return None


def as_seen(found):
    """Text as it stands in the end: of a line that was overwritten, the last."""
    text = "".join(part for kind, part in found if kind != "stderr")
    return re.sub(r"[^\n]*\r(?!\n)", "", text)


def stored_outputs(lesson):
    """{cell id: text} of the cells whose outputs are the same on every machine."""
    stored = {}
    for cell in nbformat.read(lesson, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or {"solution", "nbval-ignore-output"} & set(tags):
            continue
        found = []
        for output in cell.outputs:
            if output.output_type == "stream":
                found.append((output.name, output.text))
            elif output.output_type == "error":
                found.append(("error", f"{output.ename}: {output.evalue}\n"))
            else:
                found.append(("data", output.data.get("text/plain", "") + "\n"))
        stored[cell.id] = as_seen(found)
    return stored


def differences(stored, outputs):
    """A sentence for each cell in which a student saw something else."""
    for student, seen in sorted(outputs.items()):
        for cell, text in stored.items():
            if seen.get(cell) != text:
                yield f"{student}, cell {cell}: {seen.get(cell)!r}, stored: {text!r}"


def free_ports(count):
    """So many ports of loopback that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def running_hub(folder, numbers, password):
    """A hub with jupyterhub_config.py in a new folder; all of it ends in the end."""
    subprocess.run(
        [sys.executable, str(HAND_OUT), str(folder / "lessons"), *numbers],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    public, hub, api = free_ports(3)
    command = [sys.executable, "-m", "jupyterhub", "--config", str(CONFIG)]
    command += [
        f"--JupyterHub.bind_url=http://127.0.0.1:{public}",
        f"--JupyterHub.hub_bind_url=http://127.0.0.1:{hub}",
        f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{api}",
    ]
    path = os.pathsep.join([str(PROJECT / "hub/node_modules/.bin"), os.environ["PATH"]])
    environment = os.environ | {"CLASS_PASSWORD": password, "PATH": path}
    log = folder / "hub.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{public}"
        wait_for(url, process, log)
        yield url, psutil.Process(process.pid)
    finally:
        end(process)


def wait_for(url, process, log):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            web = requests.Session()
            web.trust_env = False
            if web.get(f"{url}/hub/login", timeout=5).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.5)
    raise RuntimeError(f"the hub did not start:\n{log.read_text()[-3000:]}")


def end(process):
    """Ask the hub to stop its servers; then see to it that nothing is left."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    process.terminate()
    try:
        process.wait(120)
    except subprocess.TimeoutExpired:
        process.kill()
    _, alive = psutil.wait_procs(family, timeout=30)
    for each in alive:
        each.kill()


class MemoryWatch(threading.Thread):
    """The most memory that the class had at one time, by user, and the hub itself.

    A page that several processes share, such as TensorFlow's code, counts for each
    with its share of it (the "proportional set size", which Linux alone tells).
    """

    def __init__(self, hub, every=3.0):
        super().__init__(daemon=True)
        self.hub, self.every = hub, every
        self.stopped = threading.Event()
        self.owner, self.most = {}, {}

    def run(self):
        while not self.stopped.wait(self.every):
            used = {}
            for process in [self.hub, *self.hub.children(recursive=True)]:
                try:
                    who = self.whose(process)
                    memory = process.memory_full_info()
                except psutil.Error:
                    continue
                size = getattr(memory, "pss", memory.uss)
                used[who] = used.get(who, 0) + size
            used["all"] = sum(used.values())
            for who, size in used.items():
                self.most[who] = max(size, self.most.get(who, 0))

    def whose(self, process):
        """A student's name, or "hub" for the hub and what serves it."""
        if process not in self.owner:
            environment = process.environ()
            server = environment.get("JUPYTERHUB_SERVER_NAME") is not None
            name = environment.get("JUPYTERHUB_USER") if server else None
            self.owner[process] = name or "hub"
        return self.owner[process]

    def stop(self):
        self.stopped.set()
        self.join()
        return self.most


def measure(users, number, say=lambda text: None):
    """Let so many users run the lesson of this number at once."""
    (lesson,) = (PROJECT / "notebooks").glob(f"{number}_*.ipynb")
    result = Result(users, lesson.stem, psutil.getloadavg()[0])
    password = secrets.token_urlsafe(12)
    with (
        tempfile.TemporaryDirectory(prefix="class-") as folder,
        running_hub(Path(folder), [number], password) as (url, hub),
        ThreadPoolExecutor(users) as pool,
    ):
        watch = MemoryWatch(hub)
        watch.start()
        students = [Student(url, f"student{n + 1:02}", password) for n in range(users)]
        tasks = [
            lambda student: student.log_in(),
            lambda student: student.open_kernel(lesson.name),
            lambda student: student.run(lesson.name),
        ]
        for part, task in zip(PARTS, tasks, strict=True):
            say(f"{len(students)} students: {part}")
            result.seconds[part] = []
            tries = list(pool.map(timed, [task] * len(students), students))
            for student, (seconds, found, error) in zip(students, tries, strict=True):
                if error:
                    result.failures.append(f"{student.name}, {part}: {error}")
                    continue
                result.seconds[part].append(seconds)
                if found is not None:
                    result.outputs[student.name] = found
            students = [
                student
                for student, (_, _, error) in zip(students, tries, strict=True)
                if not error
            ]
        time.sleep(2 * watch.every)  # let it see the memory at the end
        result.memory = watch.stop()
        result.log = (Path(folder) / "hub.log").read_text("utf-8", "replace")
    result.differences = list(differences(stored_outputs(lesson), result.outputs))
    return result


def timed(task, student):
    """(seconds, what the task returns, None), or a sentence about what went wrong."""
    begin = time.monotonic()
    try:
        found = task(student)
    except Exception as error:  # one student's trouble: the others go on
        return None, None, f"{type(error).__name__}: {error}"
    return time.monotonic() - begin, found, None


def machine():
    """What the numbers were measured on, in words."""
    memory = psutil.virtual_memory()
    return (
        f"{os.cpu_count()} cores, {memory.total / 2**30:.0f} GiB of memory, "
        f"{memory.available / 2**30:.0f} GiB of it free"
    )


def row(result):
    """The result as a row of the table."""

    def spread(numbers):
        if not numbers:
            return "–"
        return f"{statistics.median(numbers):.0f} / {max(numbers):.0f}"

    each = [size for who, size in result.memory.items() if who.startswith("student")]
    cells = [
        result.users,
        *(spread(result.seconds.get(part, [])) for part in PARTS),
        f"{statistics.mean(each) / MB:.0f}" if each else "–",
        f"{result.memory.get('all', 0) / MB:.0f}",
        len(result.failures),
        "yes" if result.same else "NO",
        f"{result.load:.1f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = [
    "students",
    *(f"{part}, s" for part in PARTS),
    "MB each",
    "MB in all",
    "failures",
    "same numbers",
    "load before",
]


def main():
    about, _, more = __doc__.partition("\n")
    parser = argparse.ArgumentParser(
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--users", type=int, nargs="+", default=[1, 4], metavar="N")
    parser.add_argument("--lesson", default="01", metavar="NN")
    wanted = parser.parse_args()
    print(f"Lesson {wanted.lesson}; {machine()}. Seconds: median / longest.\n")
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD), flush=True)
    good = True
    for users in wanted.users:
        result = measure(
            users, wanted.lesson, lambda text: print(text, file=sys.stderr)
        )
        print(row(result), flush=True)
        for trouble in [*result.failures, *result.differences]:
            print(trouble, file=sys.stderr)
        if result.failures:
            log = Path(f"measure_class_{users}.log").resolve()
            log.write_text(result.log, "utf-8")
            print(f"What the hub and all servers said: {log}", file=sys.stderr)
        good = good and result.same and not result.failures
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
