"""Calls with parents as trees: patterns and times in the words of wirepath (pattern, latency, self time).

A call here is anything with: connection (client ip, port, server ip, port), t_call and t_return in ns
(t_return None for a one-way message), parent, children in order of their calls, operation.
"""

import csv
from bisect import bisect_left
from collections import defaultdict


def is_setup(call):
    """Connection set-up and pings of pools."""
    return call.operation.startswith("(")


def walk(call):
    yield call
    for child in call.children:
        yield from walk(child)


def form(call, names):
    name = names[call.connection[2]]
    if not call.children:
        return name
    return name + "(" + ",".join(form(child, names) for child in call.children) + ")"


def self_us(call):
    """Time covered by no child. None for a one-way message: nobody sees when its work ended."""
    if call.t_return is None:
        return None
    covered, end = 0, call.t_call
    for child in call.children:
        begin = max(child.t_call, end)
        until = min(child.t_call if child.t_return is None else child.t_return, call.t_return)
        if until > begin:
            covered, end = covered + until - begin, until
    return (call.t_return - call.t_call - covered) / 1000


def roots(calls):
    return [call for call in calls if not call.parent and not is_setup(call)]


def patterns(calls, names):
    """[(form, [root])], most instances first."""
    found = defaultdict(list)
    for root in roots(calls):
        found[names[root.connection[0]] + ">" + form(root, names)].append(root)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def self_means(some):
    """[(node's address, mean self time in us)] by position in the tree; None for one-way messages."""
    means = []
    for column in zip(*(walk(root) for root in some)):
        times = [self_us(call) for call in column]
        mean = None if None in times else sum(times) / len(times)
        means.append((column[0].connection[2], mean))
    return means


def write_patterns(calls, names, path):
    with open(path, "w", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["pattern", "instances", "mean_latency_us", "self_time_us_per_node"])
        for text, some in patterns(calls, names):
            latency = sum(root.t_return - root.t_call for root in some) / len(some) / 1000
            means = [f"{at}:{names[ip]}={mean:.1f}"
                     for at, (ip, mean) in enumerate(self_means(some)) if mean is not None]
            out.writerow([text, len(some), f"{latency:.1f}", ";".join(means)])


def in_flight(calls):
    """Mean number of requests in flight: time spent in requests over the time they took together."""
    all_roots = roots(calls)
    spent = sum(root.t_return - root.t_call for root in all_roots)
    took = max(root.t_return for root in all_roots) - all_roots[0].t_call
    return spent / took


def open_parents(calls):
    """Mean number of calls into a node that are open when it makes a call."""
    begins, ends = defaultdict(list), defaultdict(list)
    for call in calls:
        if call.t_return is not None and not is_setup(call):
            begins[call.connection[2]].append(call.t_call)
            ends[call.connection[2]].append(call.t_return)
    for times in (*begins.values(), *ends.values()):
        times.sort()
    counts = []
    for call in calls:
        if call.parent:
            node, t = call.connection[0], call.t_call
            counts.append(bisect_left(begins[node], t) - bisect_left(ends[node], t))
    return sum(counts) / len(counts)
