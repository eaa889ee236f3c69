//! Deadlines of hosts while they measure: those that lag behind, and those whose case takes too long.

use assay_fleet::remote::HostFailure;

use super::{FleetRun, POLL_INTERVAL, nanoseconds};
use crate::failure::CommandFailure;

impl FleetRun<'_, '_, '_> {
    /// Gives up hosts that lag behind: half of those that started with them have been done for
    /// longer than the deadline and than twice their own time.
    pub(super) fn drop_late_hosts(&mut self) -> Result<(), CommandFailure> {
        let now_ns = self.hosts.now_ns();
        // Limits the rate of checks: one per message would cost the square of the number of hosts.
        if now_ns.saturating_sub(self.checked_ns) < nanoseconds(POLL_INTERVAL) {
            return Ok(());
        }
        self.checked_ns = now_ns;
        self.drop_overdue_hosts(now_ns)?;
        let Some(start) = &self.start else { return Ok(()) };
        let mut done: Vec<u64> = start.done_ns.values().flatten().copied().collect();
        done.sort_unstable();
        // No host lags behind if none is left.
        let middle = start.done_ns.len().div_ceil(2).checked_sub(1);
        let allowed_ns = nanoseconds(self.request.deadline);
        let is_behind = middle.and_then(|at| done.get(at)).is_some_and(|middle_ns| {
            let took_ns = middle_ns.saturating_sub(start.at_ns);
            now_ns.saturating_sub(*middle_ns) > allowed_ns.max(2 * took_ns)
        });
        if !is_behind {
            return Ok(());
        }
        let seconds = self.request.deadline.as_secs();
        let failure = HostFailure::Straggler { done: done.len(), seconds };
        let late = start.done_ns.iter().filter(|(_, done)| done.is_none());
        let late: Vec<usize> = late.map(|(host, _)| *host).collect();
        late.into_iter().try_for_each(|host| self.lose_host(host, &failure))
    }

    /// Gives up hosts whose case takes longer than the deadline of a case.
    fn drop_overdue_hosts(&mut self, now_ns: u64) -> Result<(), CommandFailure> {
        let Some(most) = self.request.case_deadline else { return Ok(()) };
        let lag = self.request.deadline;
        for host in 0..self.clocks.len() {
            let is_overdue = self.usage.is_overdue(host, now_ns, most, lag);
            if is_overdue && !self.steps.has_left(host) {
                self.lose_host(host, &HostFailure::Overdue { seconds: most.as_secs() })?;
            }
        }
        Ok(())
    }
}
