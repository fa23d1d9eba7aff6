"""Compile once what takes longest, before the two processes of a test run would each do so at the same time."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np

from driftbandit import AdaptiveUCB, Constant, FixedArms, Gaussian, UnitArms, World, play


def whole() -> None:
    policy, arms = AdaptiveUCB(2), 0.5 * np.eye(2)
    for offered in (arms, FixedArms(arms)):
        policy.update(policy.select(offered), 0.0)
    for fresh in (False, True):
        play(AdaptiveUCB(2), World(Constant(2), Gaussian(0.1), 1, UnitArms(2, fresh=fresh)))


def in_blocks() -> None:
    policy = AdaptiveUCB(4, blocks=2)
    policy.update(policy.select([[0.0, 0.5, 0.0], [1.0, 0.5, 0.0]]), 0.0)


if __name__ == "__main__":
    print("compiling AdaptiveUCB ahead of the tests: about two minutes", flush=True)
    with ProcessPoolExecutor(2) as pool:
        for done in [pool.submit(whole), pool.submit(in_blocks)]:
            done.result()
