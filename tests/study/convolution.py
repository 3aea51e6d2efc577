"""The figures of the SOSP 2003 paper on its convolution algorithm, remade: ours, and as published."""

import collections
import csv
import statistics
import subprocess
import sys

import plot
from trial import HERE, SCENARIOS

sys.path.append(str(HERE.parent / "lab"))
import edges

WAYS = {"xcorr": (), "as published": ("--as-published",)}
FREQUENT = 100  # messages: the paper's, 7.5.7
PERCENT = 100.0
QUANTA = (5, 10, 15, 30, 60, 120, 360, 720)  # seconds, of mail
MAIL_LAG = ("--max-lag", "3600s")

# As published, ghosts multiply with each message of a path, and there is room for 4,096 places: so many messages, and these only.
# The delays of our multi-tier workload are 10 to 50 ms; the paper's quantum of 100 ms would make all of them 0.
DEPTH_13 = 8
QUANTUM_13 = "10ms"
MULTI_TIER = {"xcorr": ("--quantum", QUANTUM_13),
              "as published": ("--quantum", QUANTUM_13, "--max-depth", DEPTH_13, "--min-share", 0.2)}
PATH_13 = ("WS2", "AUTH", "DB", "AUTH", "WS2", "AP1", "DB", "AP1", "WS2", "client")


def spectra(study, trace, way, *arguments):
    """Writes what `report --engine xcorr` makes of TRACE, a row a spike, path by path; returns where."""
    found = study.path("spectra.csv")
    study.run("report", "-q", "--engine", "xcorr", *WAYS[way], *arguments, trace, "-o", found)
    return found


def mail(study):
    """The two months of traces/mail/make, as a trace with its truth; made once."""
    if "mail" not in study.made:
        mbox, trace, truth = (study.path(f"mail.{suffix}") for suffix in ("mbox", "trace", "csv"))
        few = ("--mails", "1500", "--days", "10") if study.quick else ()
        with open(mbox, "wb") as file:
            subprocess.run([SCENARIOS.parent / "mail" / "make", *few], check=True, stdout=file)
        study.run("records", "-q", "--from", "mail", mbox, "--inside", "corp.example", "-o", trace, "--truth", truth)
        study.made["mail"] = (trace, truth)
    return study.made["mail"]


def truth_of(study, trace, truth):
    """(places: {nodes from the root on: [delay, ...]}, messages in all) of calls and returns taken as messages."""
    calls = study.path("calls.csv")
    study.run("calls", "-q", "--engine", "scoreboard", "--black-box", trace, "-o", calls)
    return edges.true_places(list(edges.trace_calls(truth, calls)))


def found_in(path, places):
    return edges.found_places(path, {node for place in places for node in place})


def messages_at(spikes):
    return sum(messages for _, messages in spikes)


# Figure 13: where 200 ms more are found, and what is found beside the truth

def chain(path, wanted):
    """The delays of WANTED, the receivers from the root on, as far as there is such a path; of several the most messages."""
    best, above, number = {}, [], None
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["path"] != number:
                number, above = row["path"], []
            depth = int(row["depth"])
            if len(above) < depth:
                above.append(row["receiver"])
            one = (float(row["messages"]), float(row["delay"] or 0))
            if tuple(above) == wanted[:depth]:
                best[depth] = max(best.get(depth, one), one)
    return [(depth, wanted[depth - 1], *best[depth]) for depth in sorted(best)]


def figure_13(study):
    delays, ghosts, curves = [], [], []
    for scenario, name in (("multi-tier", "normal"), ("multi-tier-delay", "+200 ms")):
        trace, truth = study.simulate(scenario, requests=17000)
        places, n_messages = truth_of(study, trace, truth)
        true = {place: len(times) for place, times in places.items() if len(place) <= DEPTH_13 + 1}
        for way in WAYS:
            path = spectra(study, trace, way, *MULTI_TIER[way])
            rows = chain(path, PATH_13)
            delays += [(scenario, way, depth, node, messages, 1000 * delay) for depth, node, messages, delay in rows]
            curves.append((f"{name}, {way}", [(row[0], 1000 * row[3]) for row in rows]))
            found = {place: messages_at(spikes) for place, spikes in found_in(path, places).items()
                     if len(place) <= DEPTH_13 + 1}
            ghosts.append((scenario, way, n_messages, *compare(true, found, 0.01)))
    study.write_rows("figure-13", ("trace", "engine", "position", "node", "messages", "delay_ms"), delays)
    study.write_rows("figure-13-ghosts", ("trace", "engine", "all_messages", "places", "missing", "false"), ghosts)
    plot.write(study.out / "figure-13.svg", "Delays on the path of figure 12, calls and returns", "message of the path",
               "delay after the message before, ms", curves, y_low=0, lines=False)


def compare(true, found, share):
    """How many places have more than SHARE of their root's messages; how many of them are missing; how many found ones false."""
    big = [place for place, n in true.items() if n > share * true[place[:2]]]
    missing = sum(place not in found for place in big)
    false = sum(true.get(place, 0) < 0.2 * n and n > share * found.get(place[:2], n) for place, n in found.items())
    return len(big), missing, false


# Figure 16: the delays of mail

def figure_16(study):
    trace, truth = mail(study)
    places, _ = truth_of(study, trace, truth)
    rows = [("true", "/".join(place), len(times), statistics.median(times)) for place, times in sorted(places.items())
            if len(place) > 2 and len(times) >= FREQUENT]
    for way in WAYS:
        found = found_in(spectra(study, trace, way, "--quantum", "5s", *MAIL_LAG), places)
        rows += [(way, "/".join(place), messages, delay) for place, spikes in sorted(found.items()) if len(place) > 2
                 for delay, messages in sorted(spikes) if messages_at(spikes) >= FREQUENT]
    study.write_rows("figure-16", ("engine", "place", "messages", "delay_s"), rows)
    curves = []
    for way in WAYS:
        sums = collections.Counter()
        for engine, _, messages, delay in rows:
            if engine == way:
                sums[round(delay)] += messages
        curves.append((way, sorted(sums.items())))
    plot.write(study.out / "figure-16.svg", "Delays of frequent paths of mail, quantum 5 s", "delay of a spike, s",
               "messages", curves, y_log=True, lines=False)


# 7.5.7 and figure 23: what the quantum does to accuracy, and to cost

def quanta(study):
    trace, truth = mail(study)
    places, _ = truth_of(study, trace, truth)
    true = {place: len(times) for place, times in places.items()}
    frequent = [place for place, n in true.items() if n >= FREQUENT]
    rows = []
    for way in WAYS:
        for quantum in QUANTA:
            path = spectra(study, trace, way, "--quantum", f"{quantum}s", *MAIL_LAG)
            found = {place: messages_at(spikes) for place, spikes in found_in(path, places).items()}
            false = [place for place in found if place not in true]
            seconds, megabytes = study.cost("report", "-q", "--engine", "xcorr", *WAYS[way], "--quantum", f"{quantum}s",
                                            *MAIL_LAG, trace, "-o", study.path("cost.csv"))
            rows.append((way, quantum, len(found), PERCENT * len(false) / max(len(found), 1),
                         sum(found[place] >= FREQUENT for place in false),
                         sum(place not in found for place in frequent), seconds, megabytes))
    study.write_rows("quanta", ("engine", "quantum_s", "places", "false_percent", "frequent_false", "frequent_missing",
                                "cpu_seconds", "MB"), rows)
    for name, title, column, label, is_log in (
            ("quanta", "False paths of mail and the quantum", 3, "false places, %", False),
            ("figure-23", "CPU time of mail and the quantum", 6, "CPU seconds", True)):
        curves = [(way, [(row[1], row[column]) for row in rows if row[0] == way]) for way in WAYS]
        plot.write(study.out / f"{name}.svg", title, "quantum, s", label, curves, x_log=True, y_log=is_log,
                   **({} if is_log else {"y_low": 0}))


# Table 1, the convolution half

def table_1(study):
    rows = []
    traces = [(f"multi-tier {name}", study.simulate("multi-tier", requests=n)[0], MULTI_TIER)
              for name, n in (("short", 1700), ("normal", 17000), ("long", 170000))]
    traces.append(("mail", mail(study)[0], dict.fromkeys(WAYS, ("--quantum", "30s", *MAIL_LAG))))
    for name, trace, arguments in traces:
        page = study.report(trace, "scoreboard")
        messages = 2 * page["calls"] + page["messages"]
        seconds = (int(page["end_ns"]) - int(page["begin_ns"])) / 1e9
        for way in WAYS:
            cpu, megabytes = study.cost("report", "-q", "--engine", "xcorr", *WAYS[way], *arguments[way], trace, "-o",
                                        study.path("cost.csv"))
            rows.append((name, way, messages, seconds, arguments[way][1], megabytes, cpu))
    study.write_rows("table-1-convolution", ("trace", "engine", "messages", "seconds", "quantum", "MB",
                                             "cpu_seconds"), rows)


FIGURES = {
    "13": figure_13,
    "16": figure_16,
    "quanta": quanta,
    "table-1-convolution": table_1,
}
