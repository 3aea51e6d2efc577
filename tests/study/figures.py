"""The figures of the SOSP 2003 paper, remade: each function writes its data and its plot."""

import sys

import plot
from trial import SCENARIOS, instance_errors, links_right, traces_right

ENGINES = ("scoreboard", "nesting")
CASES = ("multi-tier", "children-parallel", "children-0-2", "children-d-cc", "penalty-breaker")
PERCENT = 100.0
MULTI_TIER_IN_FLIGHT = 11.5  # requests at load 1


def say(text):
    print(text, file=sys.stderr, flush=True)


def duration(page):
    """Seconds from the first record to the last."""
    return (int(page["end_ns"]) - int(page["begin_ns"])) / 1e9


# Figure 12: where 200 ms more are found

def typical_pattern(page, node):
    """The most frequent pattern that begins at NODE and calls AP1 after AUTH, with one database call in each."""
    wanted = [node, "AUTH", "DB", "AP1", "DB"]
    for pattern in page["patterns"]:
        if [n["node"] for n in pattern["nodes"]] == wanted:
            return pattern
    return None


def delays_of(page, node):
    """Per call of the pattern: its delay after the call of its parent, and its node's self time, in ms."""
    pattern = typical_pattern(page, node)
    if not pattern:
        return None
    return [(n["node"], n["delay"].get("mean_ns", 0) / 1e6, n["self"]["mean_ns"] / 1e6) for n in pattern["nodes"]]


def figure_12(study):
    """The multi-tier traces, normal and with 200 ms more at WS2: one pattern's delays, by engine."""
    rows = []
    for scenario in ("multi-tier", "multi-tier-delay"):
        trace, _ = study.simulate(scenario, requests=17000)
        for engine in ENGINES:
            found = delays_of(study.report(trace, engine, "--all"), "WS2") or []
            rows += [(scenario, engine, i, *f) for i, f in enumerate(found)]
    study.write_rows("figure-12", ("trace", "engine", "position", "node", "call_delay_ms", "self_ms"), rows)
    curves = [(f"{name}, {engine}", [(r[2], r[4]) for r in rows if r[0] == scenario and r[1] == engine])
              for scenario, name in (("multi-tier", "normal"), ("multi-tier-delay", "+200 ms")) for engine in ENGINES]
    plot.write(study.out / "figure-12.svg", "Call delays on WS2, AUTH, DB, AP1, DB", "call of the pattern",
               "delay after the parent's call, ms", curves, y_low=0, lines=False)


# Figure 17: patterns missing among the N most frequent

def figure_17(study):
    trace, truth = study.simulate("multi-tier", load=17, requests=17000)
    rows, curves = [], []
    for engine in ENGINES:
        page = study.evaluate(trace, truth, engine, "-v")
        say(f"  parallelism {page['parallelism']:.1f}")
        for i, tolerance in enumerate(("0 %", "2 %", "6 %")):
            points = [(t["n"], t["false_negatives"][i] / t["n"]) for t in page["top"]]
            curves.append((f"{engine}, {tolerance}", points))
            rows += [(engine, tolerance, n, share) for n, share in points]
    study.write_rows("figure-17", ("engine", "tolerance", "n", "false_negative_share"), rows)
    plot.write(study.out / "figure-17.svg", "True patterns missing among the N most frequent", "N",
               "share of the N missing", curves, y_low=0, y_high=1)


# Figures 19 and 20: parallelism, and variation of delays

def both(study, trace, truth):
    """What the two engines and the reference make of a trace: rows (engine, errors, links, traces)."""
    for engine in ENGINES:
        arguments = ("--reference",) if engine == "nesting" else ()
        page = study.evaluate(trace, truth, engine, *arguments)
        parallelism = page["parallelism"]
        yield (engine, parallelism, instance_errors(page, "false_positives"), links_right(page["all"]),
               traces_right(page["all"]))
        if "reference" in page:
            row = page["reference"]["learned"]["all"]
            yield "learned from the truth", parallelism, None, links_right(row), traces_right(row)


def sweep(study, name, title, x_name, points, x_log=False):
    """POINTS: (case, x or None for the parallelism measured, trace, truth). Two plots: instances as in the paper, and links."""
    rows = []
    for case, x, trace, truth in points:
        for engine, parallelism, errors, links, traces in both(study, trace, truth):
            rows.append((case, engine, parallelism if x is None else x, parallelism,
                         "" if errors is None else errors, links, traces))
    columns = ("case", "engine", "x", "parallelism", "false_positive_instances", "links_right", "traces_right")
    study.write_rows(name, columns, rows)
    for case in dict.fromkeys(r[0] for r in rows):
        engines = dict.fromkeys(r[1] for r in rows)
        mine = [r for r in rows if r[0] == case]
        curves = [(e, sorted((r[2], PERCENT * r[5]) for r in mine if r[1] == e)) for e in engines]
        plot.write(study.out / f"{name}-{case}-links.svg", f"{title}: {case}", x_name,
                   "links under the right parent, %", curves, x_log=x_log, y_low=0, y_high=100)
    for engine in ENGINES:
        curves = [(case, sorted((r[2], PERCENT * r[4]) for r in rows if r[0] == case and r[1] == engine))
                  for case in CASES]
        plot.write(study.out / f"{name}-{engine}.svg", f"{title}: {engine}", x_name,
                   "false positive path instances, %", curves, x_log=x_log, y_low=0, y_high=100)


def figure_19(study):
    loads = (0.5, 1, 2, 4, 8)
    points = []
    for case in CASES:
        for load in loads:
            trace, truth = study.simulate(case, load=load)
            points.append((case, None, trace, truth))
    sweep(study, "figure-19", "Accuracy and parallelism", "parallelism", points, x_log=True)


def figure_20(study):
    points = []
    for case in CASES:
        for sd in (1, 3, 10, 20, 30, 50):
            trace, truth = study.simulate(case, load=2, settings=(f"sd={sd}%",))
            points.append((case, sd, trace, truth))
    sweep(study, "figure-20", "Accuracy and variation of delays", "sd of delays, % of the mean", points)


# Figure 21: messages lost by a sniffer that is too slow

def figure_21(study):
    rows = []
    for case in CASES:
        trace, truth = study.simulate(case, load=1)
        whole = study.report(trace, "scoreboard")
        seconds = duration(whole)
        rate = 2 * whole["calls"] / seconds
        for factor in (1.2, 1.1, 1.05, 1, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5):
            worse = study.degrade(trace, "--sniffer", f"{factor * rate:.0f}/s")
            kept = study.report(worse, "scoreboard")
            records = 2 * kept["calls"] - kept["links"].get("unpaired", 0)
            for engine in ENGINES:
                page = study.evaluate(worse, truth, engine)
                rows.append((case, engine, 1 - records / (2 * whole["calls"]),
                             instance_errors(page, "false_negatives"), links_right(page["all"])))
    study.write_rows("figure-21", ("case", "engine", "dropped", "false_negative_instances", "links_right"), rows)
    for engine in ENGINES:
        curves = [(case, sorted((PERCENT * r[2], PERCENT * r[3]) for r in rows if r[0] == case and r[1] == engine))
                  for case in CASES]
        plot.write(study.out / f"figure-21-{engine}.svg", f"Accuracy and loss: {engine}", "messages dropped, %",
                   "false negative path instances, %", curves, y_low=0, y_high=100)


# Figure 22: a clock that is wrong

SKEWS = (0, 5, 10, 20, 30, 40, 50, 60)
CURVES_22 = {
    "no comp": (1, {"scoreboard": (), "nesting": ()}),
    "comp": (1, {"scoreboard": ("--skew-window", "30ms"), "nesting": ("--nesting-skew", "30ms")}),
    "comp+smooth": (1, {"scoreboard": ("--skew-window", "30ms", "--smoothing", "2")}),
    "rev comp+smooth": (-1, {"scoreboard": ("--skew-window", "30ms", "--smoothing", "2"),
                              "nesting": ("--nesting-skew", "30ms")}),
}


def figure_22(study):
    trace, truth = study.simulate("multi-tier", load=1)
    rows = []
    for skew in SKEWS:
        for name, (sign, by_engine) in CURVES_22.items():
            worse = study.degrade(trace, "--skew", f"WS2={sign * skew}ms")
            for engine, arguments in by_engine.items():
                page = study.evaluate(worse, truth, engine, "--tolerance", "100ms", *arguments)
                rows.append((engine, name, skew, instance_errors(page, "false_negatives"), links_right(page["all"])))
    study.write_rows("figure-22", ("engine", "curve", "skew_ms", "false_negative_instances", "links_right"), rows)
    for engine in ENGINES:
        names = dict.fromkeys(r[1] for r in rows if r[0] == engine)
        curves = [(n, [(r[2], PERCENT * r[3]) for r in rows if r[0] == engine and r[1] == n]) for n in names]
        plot.write(study.out / f"figure-22-{engine}.svg", f"Accuracy and clock skew: {engine}", "clock of WS2 wrong by, ms",
                   "false negative path instances, %", curves, y_low=0, y_high=100)


# Table 1, and what a call costs

def table_1(study):
    """Length, duration, parallelism, memory, CPU time of the paper's multi-tier rows, whole program."""
    lengths = (("short", 1, 1700), ("normal", 1, 17000), ("long", 1, 170000), ("parallelism low", 0.25, 60000),
               ("parallelism medium", 2, 60000), ("parallelism high", 18, 60000))
    rows = []
    for name, load, requests in lengths:
        trace, truth = study.simulate("multi-tier", load=load, requests=requests)
        for engine in ENGINES:
            page = study.report(trace, engine)
            seconds, megabytes = study.cost("calls", "-q", "--engine", engine, trace)
            reading, _ = study.cost("records", "-q", trace, "-o", study.path("copy.trace"))
            rows.append((name, engine, 2 * page["calls"], duration(page),
                         page["links"]["parallelism"], megabytes, seconds, reading))
    study.write_rows("table-1", ("trace", "engine", "messages", "seconds", "parallelism", "MB", "cpu_seconds",
                                 "of_which_reading_and_writing"), rows)


def speed(study):
    """Calls a second against requests in flight and length, one thread, whole program."""
    rows = []
    runs = [("load", in_flight, 20000) for in_flight in (1, 2, 4, 8, 16, 32, 64)]
    runs += [("length", 1.3, requests) for requests in (2000, 20000, 200000, 2000000)]
    for what, in_flight, requests in runs:
        trace = study.simulate_binary("multi-tier", load=in_flight / MULTI_TIER_IN_FLIGHT, requests=requests)
        page = study.report(trace, "scoreboard")
        busy = int(page["total_ns"]) / 1e9 / duration(page)
        for engine in ENGINES:
            one = ("--threads", 1) if engine == "nesting" else ()
            seconds, megabytes = study.cost("calls", "-q", "--engine", engine, *one, trace)
            rows.append((what, engine, busy, page["calls"], page["calls"] / seconds, megabytes))
    study.write_rows("speed", ("sweep", "engine", "in_flight", "calls", "calls_a_second", "MB"), rows)
    for what, x, label in (("load", 2, "requests in flight"), ("length", 3, "calls")):
        curves = [(e, [(r[x], r[4]) for r in rows if r[0] == what and r[1] == e]) for e in ENGINES]
        plot.write(study.out / f"speed-{what}.svg", f"Calls a second by {label}", label, "calls a second", curves,
                   x_log=True, y_log=True)


# Trust: whether what wirepath says of its own answers holds

KEPT = ("shop", "shop-busy", "grpc")
LOADS = (0.25, 0.5, 1, 2, 4)


def trials(study):
    """(name, load, trace, truth): every scenario at every load, the captures kept here, and those given."""
    for scenario in sorted(SCENARIOS.glob("*.scenario")):
        for load in LOADS:
            yield (scenario.stem, load, *study.simulate(scenario.stem, load=load))
    for name in KEPT:
        folder = SCENARIOS.parent / name
        yield name, "", folder / "input.pcap.gz", folder / "truth.csv.gz"
    for trace, truth in study.also:
        yield trace.name.split(".")[0], "", trace, truth


def trust(study):
    """What is right, what the self-check expects of it, and whether the probabilities of links hold."""
    rows = []
    for name, load, trace, truth in trials(study):
        page = study.evaluate(trace, truth, "nesting")
        check = study.report(trace, "nesting", "--self-check")["links"]["self_check"]
        right = PERCENT * links_right(page["all"])
        expected = PERCENT * check["links_right"] / max(check["links"], 1)
        rows.append((name, load, page["parallelism"], right, expected, expected - right,
                     page["calibration_error"], page["auc"], PERCENT * page["coverage_at_99"]))
    study.write_rows("trust", ("case", "load", "parallelism", "links_right", "self_check", "off", "calibration_error",
                               "auc", "coverage_at_99"), rows)
    points = {"scenarios": [(r[3], r[4]) for r in rows if r[1] != ""], "captures": [(r[3], r[4]) for r in rows if r[1] == ""]}
    plot.write(study.out / "trust.svg", "What the self-check expects, and what is so", "links under the right parent, %",
               "expected by the self-check, %", list(points.items()), y_low=0, y_high=100, lines=False)


FIGURES = {
    "12": figure_12,
    "17": figure_17,
    "19": figure_19,
    "20": figure_20,
    "21": figure_21,
    "22": figure_22,
    "table-1": table_1,
    "speed": speed,
    "trust": trust,
}
