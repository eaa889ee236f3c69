//! `assay serve`: shows the site of the stored runs to a browser, live. Writes no file.

mod access;
mod live;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use assay_kernels::network::socket;
use assay_report::locale::Language;
use assay_report::site;
use assay_run::failure::CommandFailure;
use assay_store::Store;

use super::site::SiteMemory;
use super::store_watch::StoreWatch;
use crate::arguments::serve::ServeArguments;
use crate::terminal::Terminal;
use crate::{signals, store_access};
use access::{AccessGrant, AccessRules};
use live::LiveNews;
use request::{Refusal, Request, read_request};
use response::{Response, drain};

/// Maximum number of connections, each with a thread. A browser has six.
const MAX_CONNECTIONS: usize = 64;
/// Maximum number of connections that wait for news.
const MAX_FOLLOWERS: usize = 32;
/// Time for a request.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Interval in which the server checks whether to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Number of these intervals between two looks at the store.
const POLLS_PER_LOOK: u32 = 10;

pub(crate) fn serve(
    typed: &ServeArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let access = AccessRules::new(typed.bind, typed.token_file.as_deref())?;
    let listener = listen(typed.bind, typed.port)?;
    let address = listener.local_addr().map_err(|error| {
        CommandFailure::measurement("cannot determine the address").with_cause(&error)
    })?;
    let server = Arc::new(Server {
        typed: ServedStore::new(typed),
        access,
        site: Arc::new(SiteMemory::new(typed.screen.language().unwrap_or(Language::INVARIANT))),
        news: LiveNews::default(),
        connections: AtomicUsize::new(0),
        followers: AtomicUsize::new(0),
    });
    let mut watch = StoreWatch::default();
    let store = server.typed.open();
    watch.has_changed(store.as_ref());
    let warnings = server.update(&mut watch, store.as_ref())?;
    warnings.iter().for_each(|warning| terminal.note(warning));
    // The first list may take seconds, which the signal itself ends.
    let cancel = signals::cancel_on_signals()?;
    let (watching, is_over) = (Arc::clone(&server), Arc::clone(&cancel));
    thread::Builder::new()
        .spawn(move || watching.watch(watch, &is_over))
        .map_err(|error| CommandFailure::from_thread_error(&error))?;
    terminal.print_line(&format!("http://{}/", shown_address(address)));
    server.accept(&listener, &cancel);
    server.news.end();
    Ok(0)
}

/// Returns the address for a browser of this machine.
fn shown_address(address: SocketAddr) -> SocketAddr {
    let loopback = match address.ip() {
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
    };
    match address.ip().is_unspecified() {
        true => SocketAddr::new(loopback, address.port()),
        false => address,
    }
}

fn listen(address: IpAddr, port: u16) -> Result<TcpListener, CommandFailure> {
    let bound = TcpListener::bind((address, port));
    bound.map_err(|error| {
        let failure = CommandFailure::usage(format!(
            "cannot listen at {}",
            SocketAddr::new(address, port)
        ))
        .with_cause(&error);
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                failure.advise("name another port with --port, or --port 0 for a free one")
            }
            io::ErrorKind::PermissionDenied => failure.advise("name a port above 1023"),
            io::ErrorKind::AddrNotAvailable => {
                failure.advise("name an address of this machine, or 0.0.0.0 for all")
            }
            _ => failure.with_known_advice(),
        }
    })
}

/// Store whose runs are shown, and their selection.
#[derive(Debug)]
struct ServedStore {
    store: assay_console::options::StoreArguments,
    filter: crate::arguments::list::RunFilterArguments,
    language: Language,
}

impl ServedStore {
    fn new(typed: &ServeArguments) -> Self {
        Self {
            store: typed.store.clone(),
            filter: typed.filter.clone(),
            language: typed.screen.language().unwrap_or(Language::INVARIANT),
        }
    }

    fn open(&self) -> Option<Store> {
        store_access::open_for_reading(&self.store).ok()
    }
}

/// State that all connections share.
#[derive(Debug)]
struct Server {
    typed: ServedStore,
    access: AccessRules,
    site: Arc<SiteMemory>,
    news: LiveNews,
    connections: AtomicUsize,
    followers: AtomicUsize,
}

/// Place among a limited number; dropping it makes room.
struct Place<'c>(&'c AtomicUsize);

impl<'c> Place<'c> {
    fn take(places: &'c AtomicUsize, limit: usize) -> Option<Self> {
        let place = Self(places);
        (places.fetch_add(1, Ordering::AcqRel) < limit).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Server {
    /// Reads the list of runs and updates the site; returns warnings.
    fn update(
        &self,
        watch: &mut StoreWatch,
        store: Option<&Store>,
    ) -> Result<Vec<String>, CommandFailure> {
        let mut listing = store_access::list_runs(&self.typed.store)?;
        // Verdicts are those of all runs of a label.
        let all_runs = listing.runs.clone();
        listing.runs.retain(|run| self.typed.filter.matches(run));
        watch.follow_running(store, &listing);
        let change = self.site.update(store.map(|it| (it, &*all_runs)), listing)?;
        let warnings = change.warnings.clone();
        if change.differs {
            self.news.announce_change(change);
        }
        Ok(warnings)
    }

    /// Accepts connections until the server is stopped.
    fn accept(self: &Arc<Self>, listener: &TcpListener, cancel: &AtomicBool) {
        // A connection that was reset meanwhile must not block the next check.
        drop(listener.set_nonblocking(true));
        while !cancel.load(Ordering::Relaxed) {
            if !socket::wait_readable(listener, POLL_INTERVAL) {
                continue;
            }
            match listener.accept() {
                Ok((stream, _)) => self.start_connection(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Without a free descriptor the connection stays in the queue.
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn start_connection(self: &Arc<Self>, mut stream: TcpStream) {
        if self.connections.load(Ordering::Acquire) >= MAX_CONNECTIONS {
            // The answer fits the buffer of a new connection; nothing waits for the client.
            drop(Response::refusal(&too_many("connections")).write(&mut stream, false));
            return;
        }
        self.connections.fetch_add(1, Ordering::AcqRel);
        let server = Arc::clone(self);
        let work = move || {
            let _place = Place(&server.connections);
            if stream.set_nonblocking(false).is_ok() {
                // The client has gone.
                drop(server.serve_connection(&mut stream));
            }
        };
        if thread::Builder::new().spawn(work).is_err() {
            self.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Answers the only request of a connection.
    fn serve_connection(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Some(request) = read_request(stream, REQUEST_TIME)? else { return Ok(()) };
        let is_head = request.as_ref().is_ok_and(|request| request.is_head);
        match request.and_then(|request| self.answer(stream, &request)) {
            Ok(Some(response)) => response.write(stream, is_head),
            Ok(None) => Ok(()),
            Err(refusal) => {
                Response::refusal(&refusal).write(stream, is_head)?;
                drain(stream)
            }
        }
    }

    /// Returns the answer; `None` if it was a stream of news that has ended.
    fn answer(
        &self,
        stream: &mut TcpStream,
        request: &Request,
    ) -> Result<Option<Response>, Refusal> {
        if let AccessGrant::SetCookie(cookie) = self.access.check(request)? {
            return Ok(Some(Response::redirect(format!("/{}", request.name), cookie)));
        }
        if request.name == "live" && !request.is_head {
            let place = Place::take(&self.followers, MAX_FOLLOWERS);
            let _place = place.ok_or_else(|| too_many("open pages"))?;
            // The page was closed.
            drop(self.news.send(stream, request.query.parse().unwrap_or(0)));
            return Ok(None);
        }
        let open = || store_access::open_for_reading(&self.typed.store);
        match self.site.read(open, &request.name) {
            Ok(Some(content)) if request.name == "site.js" => {
                let revision = self.news.revision();
                let script =
                    format!("{content}self.assayRevision = {revision};\n{}", site::LIVE_SCRIPT);
                Ok(Some(Response::file(&request.name, Arc::from(script))))
            }
            Ok(Some(content)) => Ok(Some(Response::file(&request.name, content))),
            Ok(None) => Err(Refusal::new(404, "this site has no such page")),
            Err(failure) => Err(Refusal::new(500, failure.reason())),
        }
    }

    /// Looks at the store each second until the server is stopped.
    fn watch(&self, mut watch: StoreWatch, cancel: &AtomicBool) {
        let mut polls = 0;
        while !cancel.load(Ordering::Relaxed) {
            thread::sleep(POLL_INTERVAL);
            polls += 1;
            if polls % POLLS_PER_LOOK == 0 {
                self.look(&mut watch);
            }
        }
    }

    fn look(&self, watch: &mut StoreWatch) {
        let store = self.typed.open();
        let notice = |failure: &CommandFailure| {
            self.typed.language.scope(|| site::unreadable_text(&failure.reason()))
        };
        if watch.has_changed(store.as_ref()) {
            let updated = match store {
                // Pages remain when their store has gone.
                None if self.news.revision() > 0 => {
                    store_access::open_for_reading(&self.typed.store).map(drop)
                }
                store => self.update(watch, store.as_ref()).map(drop),
            };
            let notice = updated.err().as_ref().map(notice).unwrap_or_default();
            self.news.set_problem(&notice);
        }
        let running = watch.running().iter_mut();
        let texts = running.map(|run| {
            let (elapsed_s, cases) = run.progress();
            let text = self.typed.language.scope(|| site::running_text(elapsed_s, cases));
            (run.id().to_owned(), text)
        });
        self.news.set_running(&texts.collect::<Vec<_>>());
    }
}

fn too_many(what: &str) -> Refusal {
    Refusal::new(503, format!("the server has no room for more {what}; try again"))
}
