"""For tests: what a file of --trace says of its calls."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

EPSILON_US = 1e-6  # of a sum of two numbers of the file


@dataclass
class Trace:
    names: dict  # of the processes, by rank
    points: list  # as in otherData
    calls: dict  # {(point, number): {rank: (start, end)}}, microseconds, of whole calls


def read_trace(path):
    file = json.loads(Path(path).read_text())
    names, calls = {}, defaultdict(dict)
    for event in file["traceEvents"]:
        if event["name"] == "process_name":
            names[event["pid"]] = event["args"]["name"]
        if event["ph"] == "X" and event["tid"] == 0 and event["name"].startswith("call "):
            key = event["args"]["point"], event["args"]["call"]
            calls[key][event["pid"]] = event["ts"], event["ts"] + event["dur"]
    return Trace(names, file["otherData"]["points"], dict(calls))


def assert_ranks_meet(test, trace, ranks):
    """Every call is there on every rank, and no rank ends one before every rank has begun it, as
    far as the clocks can tell."""
    test.assertEqual(trace.names, {rank: f"rank {rank}" for rank in range(ranks)})
    test.assertEqual({point for point, _ in trace.calls}, {p["point"] for p in trace.points})
    for point in trace.points:
        clocks = point["clocks"]
        test.assertEqual([clock["rank"] for clock in clocks], list(range(ranks)))
        errors_us = [clock["error_ns"] * 1e-3 for clock in clocks]
        calls = [by_rank for (name, _), by_rank in trace.calls.items() if name == point["point"]]
        test.assertGreater(len(calls), 0)
        for by_rank in calls:
            test.assertEqual(set(by_rank), set(range(ranks)))
            for one in range(ranks):
                for other in range(ranks):
                    off = errors_us[one] + errors_us[other] + EPSILON_US
                    (_, end), (start, _) = by_rank[one], by_rank[other]
                    test.assertGreaterEqual(end + off, start, (point["point"], one, other))
