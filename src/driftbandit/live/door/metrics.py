"""The service in numbers, as Prometheus reads them."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from driftbandit.live.door.host import Host
from driftbandit.live.door.watch import Watch, memory_of

MEDIA = CONTENT_TYPE_LATEST.encode()

COUNTS = {
    "decisions": "Decisions made",
    "rewards": "Rewards learnt, defaults not included",
    "expired": "Decisions whose wait ended without a reward",
    "unshown": "Deferred decisions that were never shown",
    "late": "Rewards that came after the wait",
    "explored": "Decisions drawn evenly",
    "baselines": "Decisions that were the caller's own choice",
    "agreed": "Of these, those that the policy would have made too",
}


class Metrics(Collector):
    def __init__(self, host: Host, watch: Watch) -> None:
        self.host, self.watch = host, watch
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def describe(self) -> list[Metric]:
        return []  # so that nothing is collected on registration

    def collect(self) -> Iterator[Metric]:
        yield from self._of_the_journal()
        states = self.host.service.state.names
        for count, about in COUNTS.items():
            family = CounterMetricFamily(f"driftbandit_{count}", about, labels=["experiment"])
            for name, experiment in states.items():
                family.add_metric([name], getattr(experiment.counts, count))
            yield family
        total = GaugeMetricFamily("driftbandit_reward_sum", "Sum of the rewards learnt", labels=["experiment"])
        waiting = GaugeMetricFamily("driftbandit_waiting", "Decisions that wait for a reward", labels=["experiment"])
        memory = GaugeMetricFamily("driftbandit_memory_rewards", "Rewards that the policy remembers", labels=["experiment"])
        for name, experiment in states.items():
            total.add_metric([name], experiment.counts.reward_total)
            waiting.add_metric([name], len(experiment.waiting))
            if (remembered := memory_of(experiment.player.policy)) is not None:
                memory.add_metric([name], remembered)
        yield from (total, waiting, memory, self._delays())

    def _of_the_journal(self) -> Iterator[Metric]:
        commits = self.host.service.commits
        yield CounterMetricFamily("driftbandit_records", "Records in the journal", commits.durable)
        yield GaugeMetricFamily("driftbandit_uncommitted_records", "Records not durable yet", commits.waiting)
        yield GaugeMetricFamily("driftbandit_journal_behind", "1 while requests are refused for it", int(self.host.behind))
        trouble = int(self.host.service.keeper.trouble is not None)
        yield GaugeMetricFamily("driftbandit_snapshot_failing", "1 while snapshots cannot be written", trouble)
        yield GaugeMetricFamily("driftbandit_disk_full", "1 while decisions are refused for it", int(self.host.full))

    def _delays(self) -> Metric:
        about = "Seconds from decision to reward, since the start"
        family = HistogramMetricFamily("driftbandit_reward_delay_seconds", about, labels=["experiment"])
        for name in self.host.service.names:
            delays, so_far, buckets = self.watch.board(name).delays, 0, []
            for bound, count in zip([*map(str, delays.bounds), "+Inf"], delays.counts, strict=True):
                so_far += count
                buckets.append((bound, so_far))
            family.add_metric([name], buckets, delays.total)
        return family
