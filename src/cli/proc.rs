//! What /proc and /sys say of processors and threads, from text to numbers.
//!
//! Owns the formats of those files. Opens none of them.

/// Time of one processor, or of all, since the system was started, in the system's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CpuTimes {
    /// Any program ran, or an interrupt was served.
    pub busy: u64,
    /// The hypervisor gave it to others.
    pub steal: u64,
    /// All of it.
    pub total: u64,
}

impl CpuTimes {
    /// What came after `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            steal: self.steal.saturating_sub(earlier.steal),
            total: self.total.saturating_sub(earlier.total),
        }
    }

    /// Busy and stolen time as shares of all; none when no time has passed.
    pub(super) fn shares(self) -> Option<(f64, f64)> {
        let share = |part: u64| part as f64 / self.total as f64;
        (self.total > 0).then(|| (share(self.busy), share(self.steal)))
    }
}

/// The processors of /proc/stat by number; none stands for all together.
pub(super) fn cpu_times(stat: &str) -> Vec<(Option<usize>, CpuTimes)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let number = words.next()?.strip_prefix("cpu")?;
        let number = if number.is_empty() { None } else { Some(number.parse().ok()?) };
        // user nice system idle iowait irq softirq steal; guest time, behind it, is in user and nice already.
        let times: Vec<u64> = words.take(8).map(|word| word.parse().unwrap_or(0)).collect();
        let at = |index: usize| times.get(index).copied().unwrap_or(0);
        let busy = at(0) + at(1) + at(2) + at(5) + at(6);
        Some((number, CpuTimes { busy, steal: at(7), total: times.iter().sum() }))
    };
    stat.lines().filter_map(line).collect()
}

/// What became of one thread since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub migrations: Option<u64>,
    pub waited_ns: Option<u64>,
}

/// A thread, from the texts of its `status`, `sched` and `schedstat`; the latter two are empty where the kernel has none.
pub(super) fn thread_times(status: &str, sched: &str, schedstat: &str) -> Option<ThreadTimes> {
    let field = |text: &str, name: &str| {
        let named = |line: &str| {
            let (key, value) = line.split_once(':')?;
            if key.trim() == name { value.trim().parse().ok() } else { None }
        };
        text.lines().find_map(named)
    };
    Some(ThreadTimes {
        voluntary_switches: field(status, "voluntary_ctxt_switches")?,
        involuntary_switches: field(status, "nonvoluntary_ctxt_switches")?,
        migrations: field(sched, "se.nr_migrations"),
        // Time run, time waited for the processor, number of turns.
        waited_ns: schedstat.split_whitespace().nth(1).and_then(|word| word.parse().ok()),
    })
}

/// The core that a thread polls, by the thread's name.
pub(super) fn polled_core(comm: &str) -> Option<usize> {
    comm.trim().strip_prefix("rigel-core-")?.parse().ok()
}

/// The other hardware threads of `core`, from its `thread_siblings_list`, such as `0-1,4`.
pub(super) fn siblings(list: &str, core: usize) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().filter(|other| *other != core).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_from_stat() {
        let before = "cpu  1368899 14657 362166 1021132 7638 0 28254 1349 70 0\n\
                      cpu0 574306 8864 172542 628728 2284 0 13951 644 0 0\n\
                      cpu1 794592 5793 189624 392403 5353 0 14302 704 0 0\n\
                      intr 9501577 0 0\nctxt 12\nprocs_running 2\n";
        let after = before
            .replace("cpu1 794592 5793 189624 392403", "cpu1 794652 5793 189634 392423")
            .replace("14302 704", "14302 714");
        let (before, after) = (cpu_times(before), cpu_times(&after));
        assert_eq!(before.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [None, Some(0), Some(1)]);
        assert_eq!((before[0].1.busy, before[0].1.steal), (1_773_976, 1_349));
        let passed = after[2].1.since(before[2].1);
        assert_eq!(passed, CpuTimes { busy: 70, steal: 10, total: 100 });
        assert_eq!(passed.shares(), Some((0.7, 0.1)));
        assert_eq!(after[1].1.since(before[1].1).shares(), None);
    }

    #[test]
    fn an_old_kernel_has_fewer_columns() {
        assert_eq!(cpu_times("cpu0 1 2 3 4\n"), [(Some(0), CpuTimes { busy: 6, steal: 0, total: 10 })]);
        assert_eq!(cpu_times("garbage\n"), []);
    }

    #[test]
    fn a_thread_is_read_from_three_files() {
        let status = "Name:\trigel-core-1\nThreads:\t9\nvoluntary_ctxt_switches:\t150\n\
                      nonvoluntary_ctxt_switches:\t545\n";
        let sched = "rigel-core-1 (12826, #threads: 1)\n-----\n\
                     se.exec_start                                :      14064881.946890\n\
                     se.nr_migrations                             :                    3\n";
        let whole = thread_times(status, sched, "556708 8978199 2\n").unwrap();
        let all = ThreadTimes {
            voluntary_switches: 150,
            involuntary_switches: 545,
            migrations: Some(3),
            waited_ns: Some(8_978_199),
        };
        assert_eq!(whole, all);
        let poor = thread_times(status, "", "").unwrap();
        assert_eq!(poor, ThreadTimes { migrations: None, waited_ns: None, ..all });
        assert_eq!(thread_times("Name:\tx\n", sched, ""), None);
    }

    #[test]
    fn a_worker_is_known_by_its_name() {
        assert_eq!([polled_core("rigel-core-12\n"), polled_core("rigel-control\n")], [Some(12), None]);
    }

    #[test]
    fn siblings_are_all_but_the_core_itself() {
        assert_eq!(siblings("0\n", 0), Vec::<usize>::new());
        assert_eq!(siblings("2,34\n", 34), [2]);
        assert_eq!(siblings("4-7", 5), [4, 6, 7]);
        assert_eq!(siblings("", 5), Vec::<usize>::new());
    }
}
