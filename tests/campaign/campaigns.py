"""The list of campaigns, and how one is played: cases side by side, violations kept and counted."""
import collections
import concurrent.futures
import dataclasses
import pathlib
import shutil
import sys
import traceback

from tests.campaign import arrays, graphs, kills, limits, matrix, memory, pictures, sweep, videos
from tests.campaign.trial import Skip, Trial, make_registry

CAMPAIGNS = {"videos": videos.cases, "pictures": pictures.cases, "kills": kills.cases, "memory": memory.cases,
             "limits": limits.cases, "graphs": graphs.cases, "arrays": arrays.cases, "matrix": matrix.cases,
             "sweep": sweep.cases}


@dataclasses.dataclass
class Result:
    """What a campaign came to."""
    name: str
    cases: int = 0
    codes: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    faults: dict = dataclasses.field(default_factory=dict)  # case -> what it broke
    skipped: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # reason -> cases
    longest: float = 0
    peak: int = 0

    def row(self):
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        return (f"{self.name:10} {self.cases:6} {sum(self.skipped.values()):8} {len(self.faults):10} "
                f"{self.longest:7.1f} s {self.peak >> 20:5} MiB  {codes}")


def play(name, options):
    """Plays one campaign. `options` has quick, seed, only, video, keep and jobs, as `run` takes them."""
    result = Result(name)
    keep = pathlib.Path(options.keep).resolve() / name
    shutil.rmtree(keep, ignore_errors=True)
    keep.mkdir(parents=True)
    make_registry(keep)

    def one(case):
        folder = keep / case.name
        folder.mkdir(parents=True)
        trial = Trial(folder, f"{options.seed}/{name}/{case.name}")
        reason = None
        try:
            case.play(trial)
        except Skip as skip:
            reason = str(skip)
        except Exception:  # a broken case must not hide the others
            trial.fault(f"the case itself failed: {traceback.format_exc()}")
        trial.close()
        return case.name, trial, reason

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        chosen = (case for case in CAMPAIGNS[name](options) if options.only in case.name)
        for case_name, trial, reason in workers.map(one, chosen):
            if reason is not None:
                if reason not in result.skipped:
                    print(f"{name}: skipped {case_name}: {reason}")
                result.skipped[reason] += 1
                continue
            result.cases += 1
            result.codes.update(trial.codes)
            result.longest = max(result.longest, trial.longest)
            result.peak = max(result.peak, trial.peak)
            if trial.faults:
                result.faults[case_name] = trial.faults
                print(f"{name}: {case_name}: {'; '.join(trial.faults)} (see {keep / case_name})")
            sys.stdout.flush()
    print(f"{name}: {result.cases} cases, {len(result.faults)} violations")
    return result
