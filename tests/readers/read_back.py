"""Reads the exports of a result with other people's programs and compares every figure with result.json.

usage: read_back.py EXPORTS RESULT.JSON SCHEMA.JSON

Prints a line for each reader: what it read and how many figures were the same. Ends with 1 at the first that is not.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
import jsonschema
from junitparser import JUnitXml, Failure, Skipped
from prometheus_client.parser import text_string_to_metric_families

exports, result_path, schema_path = sys.argv[1:4]
with open(result_path, encoding="utf-8") as file:
    result = json.load(file)
PERCENTILES = {"p50_ns": 50, "p90_ns": 90, "p95_ns": 95, "p99_ns": 99, "p999_ns": 99.9, "p9999_ns": 99.99, "p99999_ns": 99.999}
same = 0


def path(name):
    return os.path.join(exports, name)


def equal(found, expected, what):
    """Figures are equal; those that went through another unit within the last digits of a double."""
    global same
    exact = found == expected or (
        isinstance(found, (int, float)) and isinstance(expected, (int, float))
        and abs(found - expected) <= 1e-12 * max(abs(found), abs(expected))
    )
    if not exact:
        sys.exit(f"{what}: {found!r} read, {expected!r} in the result")
    same += 1


def report(reader, what):
    global same
    if same == 0:
        sys.exit(f"{reader}: nothing was compared")
    print(f"{reader}: {same} {what}")
    same = 0


def latencies():
    """Every latency of workloads: point (from 1), workload, operation, kind, the operation's figures, the latency."""
    for number, point in enumerate(result["points"], 1):
        for workload in point["workloads"]:
            for op in ("read", "write"):
                for kind in ("service", "response"):
                    if workload[op][kind]:
                        yield number, point, workload, op, kind, workload[op][kind]


def percentile(histogram, percent, latency):
    """The percentile after the definition: the value of the ceil(p/100 * n)-th I/O, within least and greatest.

    The library's own `get_value_at_percentile` rounds the rank to the nearest, so the counts are walked here.
    """
    count = histogram.get_total_count()
    # As exact as the percentile is written: 99.999 % of 100,000 is the 99,999th, whatever binary makes of it.
    rank = max(1, -(-round(percent * 1000) * count // 100_000))
    for item in histogram.get_recorded_iterator():
        if item.total_count_to_this_value >= rank:
            return min(max(item.value_iterated_to, latency["min_ns"]), latency["max_ns"])
    sys.exit("the histogram holds fewer values than it says")


def compare_histogram(histogram, count, latency, what):
    equal(histogram.get_total_count(), count, f"count of {what}")
    for name, percent in PERCENTILES.items():
        equal(percentile(histogram, percent, latency), latency[name], f"{name} of {what}")


def hdr():
    for number, _, workload, op, kind, latency in latencies():
        what = f"{kind} of {op} of {workload['name']} at point {number}"
        compare_histogram(HdrHistogram.decode(latency["hdr"]), workload[op]["completions"], latency, what)
    report("hdrhistogram (PyPI), `hdr` in result.json", "counts and percentiles are those of the run")


def hlog():
    log = {}
    reader = HistogramLogReader(path("latency.hlog"), HdrHistogram(1, 86_400_000_000_000, 3))
    while (histogram := reader.get_next_interval_histogram()) is not None:
        log.setdefault(histogram.get_tag(), []).append(histogram)
    for number, point, workload, op, kind, latency in latencies():
        name = "".join(c if c not in " ,%" else f"%{ord(c):02X}" for c in workload["name"])
        tag = f"{name}.{op}" + (".response" if kind == "response" else "")
        histogram = log[tag].pop(0)
        compare_histogram(histogram, workload[op]["completions"], latency, f"{tag} at point {number}")
        length_ms = histogram.get_end_time_stamp() - histogram.get_start_time_stamp()
        equal(round(length_ms), round(point["window_s"] * 1000), f"length of {tag}")
    left = [tag for tag, histograms in log.items() if histograms and not tag.endswith(".slip")]
    equal(left, [], "lines that are of no latency")
    report("hdrhistogram (PyPI), latency.hlog", "counts, percentiles and lengths are those of the run")


def prometheus():
    samples = {}
    with open(path("rigel.prom"), encoding="utf-8") as file:
        for family in text_string_to_metric_families(file.read()):
            for sample in family.samples:
                key = (sample.name, *sorted((k, v) for k, v in sample.labels.items() if k != "load"))
                equal(key in samples, False, f"a second sample {key}")
                samples[key] = sample.value

    def value(name, **labels):
        return samples[(name, *sorted(labels.items()))]

    for number, point in enumerate(result["points"], 1):
        for workload in point["workloads"]:
            places = [("workload", {}, workload)]
            places += [("target", {"target": target["uri"]}, target) for target in workload["targets"]]
            for scope, more, figures in places:
                for op in ("read", "write"):
                    labels = {"point": str(number), "workload": workload["name"], "op": op, **more}
                    here, prefix = figures[op], f"rigel_{scope}"
                    equal(value(f"{prefix}_iops", **labels), here["iops"], "iops")
                    equal(value(f"{prefix}_bytes_per_second", **labels), here["bytes_per_s"], "bytes_per_s")
                    equal(value(f"{prefix}_completions", **labels), here["completions"], "completions")
                    equal(value(f"{prefix}_errors", **labels), here["errors"], "errors")
                    for kind in ("service", "response"):
                        latency, name = here[kind], f"{prefix}_{kind}_latency_seconds"
                        if not latency:
                            continue
                        for field, percent in {"min_ns": 0, **PERCENTILES, "max_ns": 100}.items():
                            quantile = f"{percent / 100:.7g}"
                            equal(value(name, quantile=quantile, **labels), latency[field] / 1e9, f"{field} of {name}")
                        count = value(f"{name}_count", **labels)
                        equal(count, here["completions"], f"count of {name}")
                        equal(value(f"{name}_sum", **labels) / count * 1e9, latency["mean_ns"], f"mean of {name}")
    report("prometheus-client (PyPI), rigel.prom", "samples are the figures of the result")
    if shutil.which("promtool") is None:
        print("promtool: SKIPPED, it is not installed (Debian: apt-get install prometheus)")
        return
    with open(path("rigel.prom"), "rb") as file:
        done = subprocess.run(["promtool", "check", "metrics"], stdin=file, capture_output=True, text=True, check=False)
    equal((done.returncode, done.stdout + done.stderr), (0, ""), "promtool check metrics")
    report("promtool check metrics, rigel.prom", "file without an error or a complaint")


def junit():
    xml.etree.ElementTree.parse(path("junit.xml"))
    suites = list(JUnitXml.fromfile(path("junit.xml")))
    equal(len(suites), len(result["points"]), "suites")
    for suite, point in zip(suites, result["points"]):
        outcomes = {case.name: [type(found) for found in case.result] for case in suite}
        checks, law = point["checks"], point["checks"]["littles_law"]["judgement"]
        equal(outcomes["conservation"], [] if checks["conservation"]["ok"] else [Failure], "conservation")
        equal(outcomes["littles_law"], {"ok": [], "off": [Failure], "not_judged": [Skipped]}[law], "Little's law")
        equal(outcomes["no_io_errors"], [Failure] if point["errors"] else [], "errors")
        equal(outcomes["ran_to_its_end"], [Failure] if point["ended_early"] else [], "end")
        equal(suite.failures, sum(o == [Failure] for o in outcomes.values()), "failures")
        equal(suite.time, point["window_s"], "time")
    report("junitparser (PyPI), junit.xml", "outcomes, counts and times are those of the checks")


def fio():
    from fio_plot.fiolib import defaultsettings, getdata
    for number, point in enumerate(result["points"], 1):
        with open(path(f"fio/point-{number}.json"), encoding="utf-8") as file:
            jobs = json.load(file)["jobs"]
        for job, workload in zip(jobs, point["workloads"]):
            for op in ("read", "write"):
                equal(job[op]["total_ios"], workload[op]["completions"], "total_ios")
                service, found = workload[op]["service"], job[op]["clat_ns"]
                if service:
                    for name, percent in PERCENTILES.items():
                        equal(found["percentile"][f"{percent:.6f}"], service[name], f"fio's {name}")
                    equal(sum(found["bins"].values()), workload[op]["completions"], "fio's bins")
    report("JSON, fio/point-N.json", "counts and percentiles are those of the result")

    options = jobs[0]["job options"]
    depths, modes = {}, ["read", "write"] if options["rw"] in ("rw", "randrw") else [options["rw"].replace("rand", "")]
    for number, point in enumerate(result["points"], 1):
        with open(path(f"fio/point-{number}.json"), encoding="utf-8") as file:
            depths.setdefault(int(json.load(file)["jobs"][0]["job options"]["iodepth"]), []).append(point)
    for mode in modes:
        settings = {
            **defaultsettings.get_default_settings(), "input_directory": [path("fio")], "rw": options["rw"],
            "iodepth": list(depths), "numjobs": [int(options["numjobs"])], "filter": [mode], "compare_graph": False,
        }
        rows = getdata.get_json_data(settings)[0]["data"]
        equal(len(rows), len(result["points"]), "points that fio-plot reads")
        for row in rows:
            # fio-plot adds up the jobs of a file; points of an open loop share a depth, and are told apart by rate.
            points = [p for p in depths[int(row["iodepth"])]
                      if abs(sum(w[mode]["iops"] for w in p["workloads"]) - row["iops"]) < 1e-6]
            equal(len(points), 1, f"points with the {mode} IOPS that fio-plot reads, {row['iops']}")
            workloads = points[0]["workloads"]
            kib = sum(round(w[mode]["bytes_per_s"] / 1024) for w in workloads)
            equal(row["bw"], kib, "KiB/s")
            means = [w[mode]["service"]["mean_ns"] if w[mode]["service"] else 0 for w in workloads]
            equal(row["lat"], sum(means) / len(means), "mean latency")
    report("fio-plot (PyPI), its reader", "rates and latencies are those of the result")

    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "chart.png")
        # fio-plot draws one bar a depth, so of the points of an open loop, which share theirs, it gets one.
        inputs = os.path.join(folder, "fio")
        os.mkdir(inputs)
        for depth, points in depths.items():
            number = result["points"].index(points[0]) + 1
            shutil.copy(path(f"fio/point-{number}.json"), os.path.join(inputs, f"{depth}.json"))
        command = [
            os.path.join(os.path.dirname(sys.executable), "fio-plot"), "-i", inputs, "-T", "t", "-l", "-r",
            options["rw"], "-f", modes[0], "-n", options["numjobs"], "-o", image, "-d", *map(str, depths),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not os.path.exists(image):
            sys.exit(f"fio-plot draws no chart: {done.stdout}{done.stderr}")
        print("fio-plot (PyPI), the program: draws latency and IOPS over queue depth")
        if shutil.which("fio_jsonplus_clat2csv") is None:
            print("fio_jsonplus_clat2csv: SKIPPED, it is not installed (Debian: apt-get install fio)")
            return
        for arguments in ([], ["--validate"]):
            command = ["fio_jsonplus_clat2csv", path("fio/point-1.json"), os.path.join(folder, "clat.csv"), *arguments]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if "No module named 'six'" in done.stderr:
                print("fio_jsonplus_clat2csv: SKIPPED, the system's Python has no module six (apt-get install python3-six)")
                return
            equal(done.returncode, 0, f"fio_jsonplus_clat2csv: {done.stdout}{done.stderr}")
        report("fio_jsonplus_clat2csv (fio)", "passes, conversion and its own validation")


def tables():
    with open(path("points.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    for number, point, workload, op, kind, latency in latencies():
        found = [r for r in rows if (r["point"], r["scope"], r["workload"], r["op"]) == (str(number), "workload", workload["name"], op)]
        equal(len(found), 1, "rows")
        equal(float(found[0]["iops"]), workload[op]["iops"], "iops")
        for field in ("mean_ns", "min_ns", *PERCENTILES, "max_ns", "overflow"):
            equal(float(found[0][f"{kind}_{field}"]), latency[field], f"{kind}_{field}")
    report("csv (Python), points.csv", "cells are the figures of the result")
    if not os.path.exists(path("intervals.csv")):
        return
    with open(path("intervals.csv"), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, strict=True) if row["phase"] == "window"]
    for number, point in enumerate(result["points"], 1):
        for workload in point["workloads"]:
            for op in ("read", "write"):
                here = [r for r in rows if (r["point"], r["workload"], r["op"]) == (str(number), workload["name"], op)]
                equal(sum(int(row["completions"]) for row in here), workload[op]["completions"], "sum over intervals")
    report("csv (Python), intervals.csv", "sums over the window are those of the result")


def schema():
    with open(schema_path, encoding="utf-8") as file:
        document = json.load(file)
    jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.Draft202012Validator(document).validate(result)
    equal(len(result["points"]) > 0, True, "points")
    report("jsonschema (PyPI), result.json", "document is valid by `rigel schema result`")


for read in (hdr, hlog, prometheus, junit, fio, tables, schema):
    read()
