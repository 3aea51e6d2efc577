#!/usr/bin/env python3
"""Compares `report --engine xcorr -o FOUND.csv` with a truth, path by path and edge by edge.

    edges.py wire  TRUTH.csv[.gz] HOSTS.csv FOUND.csv [QUANTUM_S]   layout of traces/*/truth.csv.gz
    edges.py calls TRUTH.csv CALLS.csv FOUND.csv [QUANTUM_S]        of simulate --truth and `wirepath calls`

The truth is of calls; the engine takes call and return as messages. Inside a node a message is caused by the
latest one of the same request before it: the call into the node, or the return of an earlier child. So a
request is a tree of messages; a place in it is told by the nodes from the root on. Printed: places with more
than 1 % of the messages of their root that are missing or false, edges (in, out) at a node with more than 1 %
of all messages that are missing or false, and how many places have a delay further than QUANTUM_S from the
true median.
"""
import collections
import csv
import gzip
import statistics
import sys


def rows(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        yield from csv.DictReader(file)


def wire_calls(truth, hosts):
    names = {row["ip"]: row["name"] for row in rows(hosts)}
    for row in rows(truth):
        if row["operation"].startswith("("):
            continue
        back = row["t_return_us"] # none: one way
        yield (row["call_id"], row["parent_call_id"], float(row["t_call_us"]) / 1e6,
               float(back) / 1e6 if back else None, names.get(row["src_ip"], row["src_ip"]),
               names.get(row["dst_ip"], row["dst_ip"]))


def trace_calls(truth, calls):
    parents = {row["call_id"]: row["parent_id"] for row in rows(truth)}
    for row in rows(calls):
        yield (row["call_id"], parents.get(row["call_id"], ""), float(row["t_call"]),
               float(row["t_return"]) if row["t_return"] else None, row["src"], row["dst"])


def true_places(calls):
    """{nodes from the root on: [delay, ...]} of all requests."""
    spans = {call[0]: call for call in calls}
    children = collections.defaultdict(list)
    roots = []
    for call in spans.values():
        if call[1] in spans:
            children[call[1]].append(call)
        else:
            roots.append(call)
    places = collections.defaultdict(list)
    messages = 0

    def descend(span, path):
        """A span whose call stands at PATH; returns the place of its return."""
        arrived = [(span[2], path)]
        for child in sorted(children[span[0]], key=lambda c: c[2]):
            before = max((a for a in arrived if a[0] <= child[2]), default=arrived[0])
            place = before[1] + (child[5],)
            places[place].append(child[2] - before[0])
            back = descend(child, place)
            if back:
                arrived.append((child[3], back))
        if span[3] is None:
            return None
        before = max((a for a in arrived if a[0] <= span[3]), default=arrived[0])
        place = before[1] + (span[4],)
        places[place].append(span[3] - before[0])
        return place

    for root in roots:
        path = (root[4], root[5])
        places[path].append(0.0)
        descend(root, path)
    messages = sum(len(p) for p in places.values())
    return places, messages


def found_places(path, known):
    """Where services of a host are told apart by port, and the truth has hosts, a name is that of its host."""
    def host(name):
        return name if name in known else name.rsplit(":", 1)[0]

    places = {}
    above = []
    number = None
    for row in csv.DictReader(open(path)):
        if row["path"] != number:
            number, above = row["path"], []
        depth = int(row["depth"])
        if depth == 1:
            above = [(host(row["sender"]), host(row["receiver"]))]
        elif len(above) < depth:
            above.append(above[-1] + (host(row["receiver"]),))
        one = (float(row["delay"] or 0), float(row["messages"]))
        places.setdefault(above[-1], set()).add(one)
    return places


def compare(true, n_messages, found, quantum):
    missing = false = off = 0
    for place, delays in sorted(true.items()):
        share = len(delays) / len(true[place[:2]])
        if share > 0.01 and place not in found:
            missing += 1
            print("missing %5.1f%%  %s" % (100 * share, ">".join(place)))
    worst = []
    for place, spikes in sorted(found.items()):
        n = sum(s[1] for s in spikes)
        root = sum(s[1] for s in found.get(place[:2], [(0, n)]))
        if place not in true or len(true[place]) < 0.2 * n:
            if n / root > 0.01:
                false += 1
                print("false   %5.1f%%  %s" % (100 * n / root, ">".join(place)))
        elif len(place) > 2:
            median = statistics.median(true[place])
            error = min(abs(s[0] - median) for s in spikes)
            if error > quantum:
                off += 1
                worst.append((error, n / root, median, place))
    for error, share, median, place in sorted(worst)[-12:]:
        print("delay off by %.6f (true median %.6f), share %.3f: %s" %
              (error, median, share, ">".join(place)))

    def edges(places, weight):
        sums = collections.Counter()
        for place, what in places.items():
            sums[place[-3:]] += weight(what)
        return sums

    true_edges = edges(true, len)
    found_edges = edges(found, lambda spikes: sum(s[1] for s in spikes))
    lacking = [e for e, n in true_edges.items() if n > 0.01 * n_messages and not found_edges[e]]
    extra = [e for e, n in found_edges.items() if n > 0.01 * n_messages and not true_edges[e]]
    for e in lacking:
        print("edge missing: %s %.2f%%" % (">".join(e), 100 * true_edges[e] / n_messages))
    for e in extra:
        print("edge false: %s %.2f%%" % (">".join(e), 100 * found_edges[e] / n_messages))
    big = sum(1 for p, d in true.items() if len(d) > 0.01 * len(true[p[:2]]))
    print("places over 1 %%: %d, missing %d; false %d; delays off by more than %g s: %d" %
          (big, missing, false, quantum, off))
    print("edges over 1 %% of all messages: %d, missing %d; false %d" %
          (sum(1 for n in true_edges.values() if n > 0.01 * n_messages), len(lacking), len(extra)))
    return not (missing or false or lacking or extra)


def main():
    sys.setrecursionlimit(100000)
    kind, truth, other, found = sys.argv[1:5]
    quantum = float(sys.argv[5]) if len(sys.argv) > 5 else 0.001
    calls = wire_calls(truth, other) if kind == "wire" else trace_calls(truth, other)
    places, n_messages = true_places(list(calls))
    known = {name for place in places for name in place}
    return 0 if compare(places, n_messages, found_places(found, known), quantum) else 1


if __name__ == "__main__":
    sys.exit(main())
