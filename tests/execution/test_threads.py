"""Blocks on threads: every result once, in order, and no more of them held than promised."""

import threading
import time

import numpy as np
import pytest

from fnmf.execution import Threads, add_up


@pytest.fixture(params=[1, 2, 3, 8])
def workers(request):
    runner = Threads(request.param)
    yield runner
    runner.close()


def blocks(count):
    return [(i, i + 1) for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_results_come_in_the_order_of_the_blocks(workers, count):
    def task(start, stop):
        time.sleep(0.0005 * (start % 3))
        return start

    assert list(workers.each(task, blocks(count))) == list(range(count))


def test_an_error_reaches_the_caller_and_the_threads_go_on(workers):
    def task(start, stop):
        if start == 3:
            raise ValueError("block 3")
        return start

    for _ in range(10):
        with pytest.raises(ValueError, match="block 3"):
            list(workers.each(task, blocks(9)))
    assert list(workers.each(lambda start, stop: start, blocks(9))) == list(range(9))


def test_a_sweep_that_is_given_up_leaves_the_threads_free(workers):
    sweep = workers.each(lambda start, stop: start, blocks(100))
    assert next(sweep) == 0
    sweep.close()
    assert list(workers.each(lambda start, stop: -start, blocks(3))) == [0, -1, -2]


def test_few_results_are_held_at_a_time(workers):
    lock = threading.Lock()
    made = handed = most = 0

    def task(start, stop):
        nonlocal made, most
        with lock:
            made += 1
            most = max(most, made - handed)

    for _ in workers.each(task, blocks(50)):
        time.sleep(0.0005)
        with lock:
            handed += 1
    assert made == 50
    assert most <= workers.threads + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_double_and_leave_later_blocks_alone(dtype):
    parts = [(np.full((2, 3), i, dtype), np.asarray(float(i))) for i in range(1, 4)]
    sums, count = add_up(parts)
    assert sums.dtype == count.dtype == np.float64
    np.testing.assert_array_equal(sums, np.full((2, 3), 6.0))
    assert count == 6
    np.testing.assert_array_equal(parts[2][0], np.full((2, 3), 3.0))
