//! A thread beside the measurement that ends with its owner.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Thread that is asked to end, woken and awaited when this is dropped.
#[derive(Debug)]
pub(crate) struct BackgroundThread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts `work`, which returns soon after its flag is set; a parked thread is woken then.
    pub(crate) fn start(
        name: &str,
        work: impl FnOnce(&AtomicBool) + Send + 'static,
    ) -> io::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || work(&flag))?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Wakes the thread if it is parked.
    pub(crate) fn wake(&self) {
        self.thread.iter().for_each(|it| it.thread().unpark());
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // The runtime reports a panic of the thread.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parked_thread_ends_with_its_owner() {
        let ended = Arc::<AtomicBool>::default();
        let reported = Arc::clone(&ended);
        let work = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                thread::park();
            }
            reported.store(true, Ordering::Relaxed);
        };
        drop(BackgroundThread::start("test", work).unwrap());
        assert!(ended.load(Ordering::Relaxed));
    }
}
