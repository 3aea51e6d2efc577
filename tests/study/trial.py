"""One trial: a scenario simulated, perhaps made worse, and what an engine makes of it."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parent.parent / "traces" / "scenarios"


class Study:
    """Where the program is, where results go, and how much is done (QUICK: a tenth, to try it out)."""

    def __init__(self, program, out, quick, also=()):
        self.program, self.out, self.quick, self.also = str(program), pathlib.Path(out), quick, also
        self.folder = tempfile.TemporaryDirectory(prefix="wirepath-study-")
        self.out.mkdir(parents=True, exist_ok=True)
        self.made = {}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def requests(self, n):
        return max(200, n // 10) if self.quick else n

    def run(self, *arguments):
        subprocess.run([self.program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def simulate(self, scenario, load=1, requests=2000, settings=(), duration=None, seed=1):
        """A trace with its truth; made once for the same arguments. Returns its two paths."""
        key = (scenario, load, requests, tuple(settings), duration, seed)
        if key not in self.made:
            trace = self.path(f"{len(self.made)}.trace")
            truth = self.path(f"{len(self.made)}.csv")
            arguments = ["simulate", SCENARIOS / f"{scenario}.scenario", "-q", "-o", trace, "--truth", truth,
                         "--load", load, "--seed", seed, "--requests", self.requests(requests)]
            if duration:
                arguments += ["--duration", duration]
            for setting in settings:
                arguments += ["--set", setting]
            self.run(*arguments)
            self.made[key] = (trace, truth)
        return self.made[key]

    def simulate_binary(self, scenario, load, requests):
        """A trace alone, in a form that costs little to read; the one before is overwritten."""
        trace = self.path("long.wpt")
        self.run("simulate", SCENARIOS / f"{scenario}.scenario", "-q", "-o", trace, "--load", load,
                 "--requests", self.requests(requests))
        return trace

    def degrade(self, trace, *arguments):
        worse = self.path("degraded.trace")
        self.run("degrade", "-q", trace, "-o", worse, *arguments)
        return worse

    def evaluate(self, trace, truth, engine, *arguments):
        """What `wirepath evaluate` says, as a dictionary."""
        page = self.path("accuracy.json")
        self.run("evaluate", "-q", "--truth", truth, "--engine", engine, trace, "-o", page, *arguments)
        with open(page, encoding="utf-8") as f:
            return json.load(f)

    def report(self, trace, engine, *arguments):
        page = self.path("report.json")
        self.run("report", "-q", "--engine", engine, trace, "-o", page, *arguments)
        with open(page, encoding="utf-8") as f:
            return json.load(f)

    def cost(self, *arguments):
        """CPU seconds (user and system) and peak memory in MB of one run."""
        command = [self.program, *map(str, arguments)]
        with open(os.devnull, "wb") as null, subprocess.Popen(command, stdout=null) as child:
            peak = 0
            while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                peak = max(peak, high_water_mark(child.pid))
                time.sleep(0.002)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command)
        return usage.ru_utime + usage.ru_stime, peak / 1024

    def write_rows(self, name, columns, rows):
        """A data file: comma separated, one heading line."""
        with open(self.out / f"{name}.csv", "w", encoding="utf-8") as f:
            f.write(",".join(columns) + "\n")
            for row in rows:
                f.write(",".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in row) + "\n")


def high_water_mark(pid):
    """Most memory so far, in kB. (What wait4() tells begins with that of this program.)"""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def links_right(row):
    return row["links_right"] / row["links"] if row["links"] else 1.0


def traces_right(row):
    return row["traces_exact"] / row["traces"] if row["traces"] else 1.0


def instance_errors(page, kind):
    """Share of path instances that are false positives or false negatives."""
    instances = page["instances"]
    total = instances["found" if kind == "false_positives" else "true"]
    return instances[kind] / total if total else 0.0
