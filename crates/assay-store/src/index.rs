//! The SQLite cache of the listing. Everything in it is derived from the events, so it is never
//! repaired or migrated: what looks wrong or old is thrown away and written anew.
//!
//! A lock file keeps processes out of each other's way even while one of them replaces the
//! database. A rollback journal is used instead of a write-ahead log, which does not work on the
//! network file systems that homes on clusters often lie on (sqlite.org/wal.html).

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use assay_model::quantity::{Quantity, Unit};
use fs_err as fs;
use rusqlite::{Connection, Row, params};
use thiserror::Error;

use crate::layout::Layout;
use crate::listed::{Headline, Listed};

/// The version of the tables below; another one in the file means: throw it away.
const VERSION: i64 = 3;
/// Reading and writing the index takes milliseconds; whoever waits longer does without.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// What tells whether a file of events has changed since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Size of the file.
    pub(crate) bytes: i64,
    /// Time of its last change, in nanoseconds since 1970.
    pub(crate) modified_ns: i64,
    /// Version of the function that made the headlines.
    pub(crate) headlines: u32,
}

/// Why the index could not be used.
#[derive(Debug, Error)]
pub(crate) enum IndexError {
    #[error("another process is using it")]
    Locked,
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

impl IndexError {
    /// The file itself is at fault, not who else is using it or where it lies.
    pub(crate) const fn is_damage(&self) -> bool {
        matches!(self, Self::Database(_) | Self::Json(_))
    }
}

/// Everything in the index; nothing when there is none.
pub(crate) fn load(layout: &Layout) -> Result<BTreeMap<String, (Stamp, Listed)>, IndexError> {
    if !layout.index().exists() {
        return Ok(BTreeMap::new());
    }
    let _lock = lock(layout)?;
    rows(&connect(&layout.index())?)
}

/// Writes `changed` and forgets `gone`.
pub(crate) fn save(
    layout: &Layout,
    changed: &[(Stamp, Listed)],
    gone: &[String],
) -> Result<(), IndexError> {
    let _lock = lock(layout)?;
    update(&layout.index(), changed, gone)
}

/// Throws the index away. The journal of a killed process must go with it, or the next index
/// would be rolled back to pages of this one.
pub(crate) fn discard(layout: &Layout) -> Result<(), IndexError> {
    let _lock = lock(layout)?;
    let journal = layout.index().with_extension("sqlite-journal");
    for path in [layout.index(), journal] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    Ok(())
}

fn lock(layout: &Layout) -> Result<fs::File, IndexError> {
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(layout.index_lock())?;
    let mut waited = Duration::ZERO;
    while let Err(std::fs::TryLockError::WouldBlock) = file.file().try_lock() {
        if waited >= PATIENCE {
            return Err(IndexError::Locked);
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    Ok(file)
}

fn connect(path: &Path) -> Result<Connection, IndexError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {TABLE} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?;
    } else if version != VERSION {
        return Err(rusqlite::Error::InvalidQuery.into());
    }
    Ok(connection)
}

const TABLE: &str = "
    CREATE TABLE run (
        id TEXT PRIMARY KEY, bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
        headlines_version INTEGER NOT NULL, label TEXT, suite TEXT NOT NULL, started TEXT NOT NULL,
        finished TEXT, status TEXT NOT NULL, cases_planned INTEGER NOT NULL,
        cases_finished INTEGER NOT NULL, cases_failed INTEGER NOT NULL, host TEXT NOT NULL,
        fingerprint TEXT NOT NULL, is_whole INTEGER NOT NULL, losses INTEGER NOT NULL,
        headlines TEXT NOT NULL
    ) STRICT;";

fn update(path: &Path, changed: &[(Stamp, Listed)], gone: &[String]) -> Result<(), IndexError> {
    let mut connection = connect(path)?;
    let transaction = connection.transaction()?;
    for (stamp, run) in changed {
        put(&transaction, *stamp, run)?;
    }
    for id in gone {
        transaction.execute("DELETE FROM run WHERE id = ?1", [id])?;
    }
    transaction.commit()?;
    Ok(())
}

fn put(connection: &Connection, stamp: Stamp, run: &Listed) -> Result<(), IndexError> {
    let headlines: Vec<_> = run
        .headlines
        .iter()
        .map(|headline| (&headline.label, headline.quantity.value, headline.quantity.unit))
        .collect();
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    connection.execute(
        "INSERT OR REPLACE INTO run VALUES \
         (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)",
        params![
            run.id,
            stamp.bytes,
            stamp.modified_ns,
            stamp.headlines,
            run.label,
            run.suite,
            run.started,
            run.finished,
            serde_json::to_string(&run.status)?,
            count(run.cases_planned),
            count(run.cases_finished),
            count(run.cases_failed),
            run.host,
            run.fingerprint,
            run.is_whole,
            i64::try_from(run.losses).unwrap_or(i64::MAX),
            serde_json::to_string(&headlines)?,
        ],
    )?;
    Ok(())
}

fn rows(connection: &Connection) -> Result<BTreeMap<String, (Stamp, Listed)>, IndexError> {
    let mut statement = connection.prepare("SELECT * FROM run")?;
    let mut rows = statement.query([])?;
    let mut runs = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (stamp, run) = from_row(row)?;
        runs.insert(run.id.clone(), (stamp, run));
    }
    Ok(runs)
}

fn from_row(row: &Row<'_>) -> Result<(Stamp, Listed), IndexError> {
    let stamp = Stamp {
        bytes: row.get("bytes")?,
        modified_ns: row.get("modified_ns")?,
        headlines: row.get("headlines_version")?,
    };
    let headlines: Vec<(String, f64, Unit)> =
        serde_json::from_str(&row.get::<_, String>("headlines")?)?;
    let count = |name: &str| row.get::<_, u32>(name).map(|count| count as usize);
    let run = Listed {
        id: row.get("id")?,
        label: row.get("label")?,
        suite: row.get("suite")?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        status: serde_json::from_str(&row.get::<_, String>("status")?)?,
        running: false,
        cases_planned: count("cases_planned")?,
        cases_finished: count("cases_finished")?,
        cases_failed: count("cases_failed")?,
        host: row.get("host")?,
        fingerprint: row.get("fingerprint")?,
        is_whole: row.get("is_whole")?,
        losses: row.get::<_, i64>("losses")?.unsigned_abs(),
        headlines: headlines
            .into_iter()
            .map(|(label, value, unit)| Headline {
                label,
                quantity: Quantity::new(value, unit),
            })
            .collect(),
    };
    Ok((stamp, run))
}
