"""kill -9 at moments drawn from a seed, and faults that are planted: the judge finds nothing in the first and all of the
second. tests/campaign plays more of them."""
import os
import random

import pytest
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("publish", whole_file=True)
from tests.campaign.judge import decoded, judge, kept  # noqa: E402
from tests.plugins.publish.line import Start, planted  # noqa: E402

SLOTS, QUEUE, IN_PIPE = 4, 16, 64  # the last: frames in the pipe, and in GStreamer's queues, of 9 KB


def kills(folder, count, seed, more="", env=None, pause=0.001):
    """Starts that are killed at drawn moments, and a last one that ends. What each source had noted, and was it killed."""
    rng, sent = random.Random(seed), []
    for _ in range(count):
        start = Start(folder, more=f"drain: 0, queue: {QUEUE}{more}", env=env, pause=pause)
        start.wait_until_kept(rng.randrange(20, 300))
        start.kill()
        sent.append((start.sent, True))
    start = Start(folder, more=f"drain: 0, queue: {QUEUE}{more}", frames=150, pause=0, env=env)
    said = start.end()
    assert start.code == 0, said
    return [*sent, (150, False)]


@pytest.mark.parametrize("sync", ["full", "normal"])
def test_what_was_kept_survives_kills_at_any_moment(tmp_path, sync):
    count, seed = int(os.environ.get("CONTORNO_KILLS", "5")), f"kills-{sync}"
    print(f"seed {seed}, {count} kills")
    sent = kills(tmp_path, count, seed, f", sync: {sync}")
    rows = kept(tmp_path / "out" / "outbox.db")
    begun = {decoded(body)["run"] for *_, body in rows}
    # A start that was killed before its run_start was kept has no run.
    assert judge(rows, sent if len(begun) == len(sent) else None) == []
    ends = [decoded(body) for *_, body in rows if decoded(body)["kind"] == "run_end"]
    assert [end["crashed"] for end in ends] == [True] * (len(begun) - 1) + [False]
    if len(begun) == len(sent):
        for (noted, _), end in zip(sent, ends):
            assert noted - end["frames"] <= SLOTS + 3 * QUEUE + IN_PIPE
    lost = sum(noted for noted, _ in sent) - sum(end["frames"] for end in ends)
    print(f"{sum(noted for noted, _ in sent)} frames were sent, {len(rows)} messages kept, {lost} frames not kept when killed")


@pytest.mark.parametrize("fault", ["commit left out", "numbers swapped", "run goes back"])
def test_the_judge_finds_a_planted_fault(tmp_path, fault):
    assert judge(kept_after(tmp_path, planted("none"))) == []
    assert judge(kept_after(tmp_path / "faulty", planted(fault))) != []


def kept_after(folder, env):
    folder.mkdir(exist_ok=True)
    kills(folder, 1, "planted", env=env)
    kills(folder, 0, "planted", env=env)
    return kept(folder / "out" / "outbox.db")
