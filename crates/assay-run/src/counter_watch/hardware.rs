//! Hardware events of this process's threads, traffic of the memory controllers, and energy.
//!
//! Events of threads exist during turns of memory and compute alone: the kernel saves and loads
//! them at each context switch, which a round trip or an I/O contains.

use std::collections::BTreeMap;
use std::io;

use assay_fleet::energy::EnergyMeter;
use assay_fleet::kernel_counters::{CounterKey, CounterReading};
use assay_fleet::root::Root;
use assay_fleet::system_events::{self, SystemEvent};
use assay_kernels::perf_event::{
    ExcludedModes, PerfEvent, PerfEventConfig, PerfReading, PerfScope,
};
use assay_model::kernel_counters::{Counter, OmissionReason, OmittedCounter};
use rustix::io::Errno;

/// Counters of hardware that this machine provides.
#[derive(Debug, Default)]
pub(super) struct HardwareCounters {
    energy: Option<EnergyMeter>,
    /// Energy of packages and traffic of memory controllers.
    system: Vec<OpenEvent>,
    system_omitted: Vec<OmittedCounter>,
    threads: Vec<OpenEvent>,
    threads_omitted: Vec<OmittedCounter>,
}

/// Values at one moment, and the reasons for missing ones.
#[derive(Debug, Default)]
pub(super) struct HardwareReading {
    pub(super) values: CounterReading,
    pub(super) missing: BTreeMap<CounterKey, OmissionReason>,
}

#[derive(Debug)]
struct OpenEvent {
    key: CounterKey,
    event: PerfEvent,
    /// Value of one count.
    scale: f64,
    last: PerfReading,
    sum: f64,
}

/// Counter with the event that counts it and the modes that it leaves out.
type ThreadEvent = (Counter, fn(ExcludedModes) -> PerfEventConfig, ExcludedModes);

/// Hardware events of threads; the clock of the threads is an event of software.
const THREAD_EVENTS: [ThreadEvent; 4] = [
    (Counter::UserCycles, PerfEventConfig::cycles, ExcludedModes::Kernel),
    (Counter::KernelCycles, PerfEventConfig::cycles, ExcludedModes::User),
    (Counter::UserInstructions, PerfEventConfig::instructions, ExcludedModes::Kernel),
    (Counter::KernelInstructions, PerfEventConfig::instructions, ExcludedModes::User),
];

impl HardwareCounters {
    /// Opens the counters of the machine, those of memory controllers only on request.
    pub(super) fn open(root: &Root, has_memory: bool) -> Self {
        let mut opened = Self::default();
        match EnergyMeter::find(root) {
            Ok(energy) => opened.energy = Some(energy),
            Err(reason) => {
                let events = system_events::energy_events(root);
                opened.open_system(Counter::PackageEnergy, &events, reason);
            }
        }
        if has_memory {
            let events = system_events::memory_events(root);
            for counter in [Counter::MemoryReadBytes, Counter::MemoryWrittenBytes] {
                let of_counter: Vec<SystemEvent> =
                    events.iter().filter(|it| it.counter == counter).cloned().collect();
                opened.open_system(counter, &of_counter, OmissionReason::NotVisible);
            }
        }
        opened
    }

    /// Opens all events of one counter: a part of them would be a wrong total.
    fn open_system(
        &mut self,
        counter: Counter,
        events: &[SystemEvent],
        without_any: OmissionReason,
    ) {
        let open = |it: &SystemEvent| {
            let [config, config1, config2] = it.config;
            let config = PerfEventConfig {
                kind: it.kind,
                config,
                config1,
                config2,
                scope: PerfScope::Cpu(it.cpu),
                ..PerfEventConfig::default()
            };
            OpenEvent::open((counter, it.of.clone()), &config, it.scale)
        };
        let opened = events.iter().map(open).collect::<Result<Vec<_>, _>>();
        let reason = match opened {
            Ok(opened) if !opened.is_empty() => return self.system.extend(opened),
            Ok(_) => without_any,
            Err(reason) => reason,
        };
        self.system_omitted.push(omitted(counter, reason));
    }

    /// Counts the calling thread and those that it starts, until the turn ends.
    pub(super) fn open_threads(&mut self, root: &Root) {
        self.close_threads();
        self.threads_omitted.clear();
        self.open_thread_event(Counter::ThreadTime, &PerfEventConfig::task_clock(), 1e-9);
        // The events of one kind of core do not count on another.
        if system_events::has_several_core_types(root) {
            self.threads_omitted.extend(omit_threads(OmissionReason::SeveralCoreTypes));
            return;
        }
        for (counter, config, excluded) in THREAD_EVENTS {
            self.open_thread_event(counter, &config(excluded), 1.0);
        }
    }

    fn open_thread_event(&mut self, counter: Counter, config: &PerfEventConfig, scale: f64) {
        match OpenEvent::open((counter, String::new()), config, scale) {
            Ok(event) => self.threads.push(event),
            Err(reason) => self.threads_omitted.push(omitted(counter, reason)),
        }
    }

    /// Ends the count of threads.
    pub(super) fn close_threads(&mut self) {
        self.threads.clear();
        self.threads_omitted = omit_threads(OmissionReason::WouldDisturb);
    }

    /// Returns the counters without a value in the present turn.
    pub(super) fn omitted(&self) -> Vec<OmittedCounter> {
        [&*self.system_omitted, &*self.threads_omitted].concat()
    }

    /// Begins a stretch: energy before it does not count.
    pub(super) fn begin_stretch(&mut self) {
        self.energy.iter_mut().for_each(EnergyMeter::restart);
    }

    pub(super) fn read(&mut self, root: &Root, now_ns: u64) -> HardwareReading {
        let mut reading = HardwareReading::default();
        for event in self.system.iter_mut().chain(&mut self.threads) {
            match event.read() {
                Ok(sum) => *reading.values.entry(event.key.clone()).or_default() += sum,
                Err(reason) => drop(reading.missing.insert(event.key.clone(), reason)),
            }
        }
        let energy = self.energy.iter_mut().flat_map(|it| it.read(root, now_ns));
        for (name, value) in energy {
            let key = (Counter::PackageEnergy, name);
            match value {
                Ok(joules) => drop(reading.values.insert(key, joules)),
                Err(reason) => drop(reading.missing.insert(key, reason)),
            }
        }
        reading.values.retain(|key, _| !reading.missing.contains_key(key));
        reading
    }
}

impl OpenEvent {
    fn open(
        key: CounterKey,
        config: &PerfEventConfig,
        scale: f64,
    ) -> Result<Self, OmissionReason> {
        let event = PerfEvent::open(config).map_err(|error| reason_of(&error))?;
        let last = event.read().map_err(|error| reason_of(&error))?;
        Ok(Self { key, event, scale, last, sum: 0.0 })
    }

    /// Returns the value since the event was opened.
    fn read(&mut self) -> Result<f64, OmissionReason> {
        let now = self.event.read().map_err(|error| reason_of(&error))?;
        let count = now.count_since(self.last).ok_or(OmissionReason::NeverScheduled)?;
        self.last = now;
        self.sum += count * self.scale;
        Ok(self.sum)
    }
}

fn omitted(counter: Counter, reason: OmissionReason) -> OmittedCounter {
    OmittedCounter { name: counter.id().to_owned(), reason }
}

fn omit_threads(reason: OmissionReason) -> Vec<OmittedCounter> {
    THREAD_EVENTS.map(|(counter, ..)| omitted(counter, reason)).into()
}

/// Returns the reason behind an error of the system call.
fn reason_of(error: &io::Error) -> OmissionReason {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM) => OmissionReason::NotPermitted,
        Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP | Errno::INVAL) => {
            OmissionReason::NoSuchEvent
        }
        Some(Errno::NOSYS) => OmissionReason::NoSystemCall,
        _ => OmissionReason::NotVisible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_call_have_names() {
        for (errno, expected) in [
            (Errno::ACCESS, OmissionReason::NotPermitted),
            (Errno::PERM, OmissionReason::NotPermitted),
            (Errno::NOENT, OmissionReason::NoSuchEvent),
            (Errno::OPNOTSUPP, OmissionReason::NoSuchEvent),
            (Errno::NOSYS, OmissionReason::NoSystemCall),
            (Errno::MFILE, OmissionReason::NotVisible),
        ] {
            assert_eq!(reason_of(&io::Error::from(errno)), expected, "{errno}");
        }
    }

    /// Each counter has a value or a reason, whatever the kernel of this machine provides.
    #[test]
    fn every_counter_has_a_value_or_a_reason() {
        let root = Root::machine();
        let mut hardware = HardwareCounters::open(&root, true);
        for counts_threads in [false, true] {
            match counts_threads {
                true => hardware.open_threads(&root),
                false => hardware.close_threads(),
            }
            hardware.begin_stretch();
            let reading = hardware.read(&root, 0);
            let keys = reading.values.keys().chain(reading.missing.keys());
            let mut named: Vec<String> = keys.map(|key| key.0.id().to_owned()).collect();
            named.extend(hardware.omitted().into_iter().map(|it| it.name));
            let memory = [Counter::MemoryReadBytes, Counter::MemoryWrittenBytes];
            let all = THREAD_EVENTS.map(|it| it.0).into_iter().chain(memory);
            for counter in all.chain([Counter::PackageEnergy]) {
                assert!(named.iter().any(|it| it == counter.id()), "{counter:?}: {named:?}");
            }
        }
    }
}
