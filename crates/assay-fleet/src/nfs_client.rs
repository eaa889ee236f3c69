//! Counters of the NFS client, from `/proc/self/mountstats` (`net/sunrpc/stats.c`, `fs/nfs/super.c`).

use std::path::Path;

use crate::mounts;
use crate::root::Root;

/// Counters of one mount. Mounts of the same export with the same options share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NfsCounters {
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub written_bytes: u64,
    /// Calls to the server.
    pub calls: u64,
    /// Calls that were sent again.
    pub retransmits: u64,
}

/// Reads the counters of the NFS mount at a mount point; `None` if there is none.
pub fn read(root: &Root, point: &Path) -> Option<NfsCounters> {
    parse(&root.text("proc/self/mountstats")?, point)
}

/// Parses the section of a mount point; the last of several at the same point hides the others.
fn parse(text: &str, point: &Path) -> Option<NfsCounters> {
    let mut found = None;
    let mut is_inside = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("device ") {
            is_inside = mount_point(line).is_some_and(|it| Path::new(&it) == point);
            found = if is_inside { Some(NfsCounters::default()) } else { found };
        } else if let Some(counters) = found.as_mut().filter(|_| is_inside) {
            counters.add_line(line)?;
        }
    }
    found
}

/// Returns the point of `device server:/x mounted on /mnt with fstype nfs4 statvers=1.1`.
fn mount_point(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(" mounted on ")?;
    let (point, kind) = rest.rsplit_once(" with fstype ")?;
    kind.starts_with("nfs").then(|| mounts::unescape(point))
}

impl NfsCounters {
    /// Adds a line of the section; `None` if it is damaged.
    fn add_line(&mut self, line: &str) -> Option<()> {
        let Some((name, values)) = line.split_once(':') else { return Some(()) };
        let numbers = || values.split_whitespace().map_while(|it| it.parse::<u64>().ok());
        if name == "bytes" {
            // Normal, direct and server bytes, each read and written.
            let all: Vec<u64> = numbers().collect();
            self.read_bytes = *all.get(4)?;
            self.written_bytes = *all.get(5)?;
        } else if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            // Operations with calls and transmissions.
            let mut numbers = numbers();
            let (calls, sent) = (numbers.next()?, numbers.next()?);
            self.calls = self.calls.saturating_add(calls);
            self.retransmits = self.retransmits.saturating_add(sent.saturating_sub(calls));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
device proc mounted on /proc with fstype proc
device server:/a mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=262144,proto=tcp,timeo=600
\tage:\t120
\tbytes:\t1000 2000 300 400 1100 2200 5 6
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 11 152 152 0 400 0 2 12 14
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 10 12 1 1680 1049456 3 40 50 0
\t       WRITE: 20 20 0 3360 2400 1 30 40 0
device server:/b mounted on /mnt/b with fstype nfs statvers=1.1
\tbytes:\t1 2
";

    #[test]
    fn parses_section_of_mount() {
        let expected =
            NfsCounters { read_bytes: 1100, written_bytes: 2200, calls: 31, retransmits: 2 };
        assert_eq!(parse(MOUNTS, Path::new("/mnt/a b")), Some(expected));
        for point in ["/proc", "/mnt", "/mnt/b"] {
            assert_eq!(parse(MOUNTS, Path::new(point)), None, "{point}");
        }
    }
}
