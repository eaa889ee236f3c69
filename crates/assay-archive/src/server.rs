//! Server of the site of the stored runs, live. Writes no file.

mod access;
mod live;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use assay_kernels::network::socket;
use assay_report::site;
use assay_run::failure::CommandFailure;
use assay_store::{RunListing, Store};

use crate::ArchiveRequest;
use crate::site::SiteMemory;
use crate::store_watch::{RunningRun, StoreFollower, StoreWatch};
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

/// Pages to serve, and their readers.
#[derive(Debug)]
pub struct ServeRequest<'a> {
    /// Runs and language of the pages.
    pub pages: ArchiveRequest,
    /// Address to bind to. Another one than loopback needs a token.
    pub bind: IpAddr,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// File with the token.
    pub token_file: Option<&'a Path>,
}

/// Server that has read the list of runs and is bound to its address.
#[derive(Debug)]
pub struct SiteServer {
    state: Arc<ServerState>,
    listener: TcpListener,
    address: SocketAddr,
    watch: StoreWatch,
}

impl SiteServer {
    /// Binds to the address and reads the list of runs, which may take seconds; passes warnings to
    /// `warn`.
    ///
    /// # Errors
    /// If the token, the address or the store cannot be used.
    pub fn open(
        request: ServeRequest<'_>,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Self, CommandFailure> {
        let access = AccessRules::new(request.bind, request.token_file)?;
        let listener = listen(request.bind, request.port)?;
        let address = listener.local_addr().map_err(|error| {
            CommandFailure::measurement("cannot determine the address").with_cause(&error)
        })?;
        let mut watch = StoreWatch::new(request.pages.store.clone());
        let state = Arc::new(ServerState {
            access,
            site: SiteMemory::new(&request.pages),
            pages: request.pages,
            news: LiveNews::default(),
            connections: AtomicUsize::new(0),
            followers: AtomicUsize::new(0),
        });
        let mut publisher = SitePublisher { state: Arc::clone(&state), warnings: Vec::new() };
        watch.look_first(&mut publisher)?;
        publisher.warnings.iter().for_each(|warning| warn(warning));
        Ok(Self { state, listener, address, watch })
    }

    /// Returns the address for a browser of this machine.
    pub fn url(&self) -> String {
        format!("http://{}/", shown_address(self.address))
    }

    /// Serves until `cancel` is set. Follows the store meanwhile.
    ///
    /// # Errors
    /// If the system refuses another thread.
    pub fn run(self, cancel: &Arc<AtomicBool>) -> Result<(), CommandFailure> {
        let Self { state, listener, mut watch, .. } = self;
        let mut publisher = SitePublisher { state: Arc::clone(&state), warnings: Vec::new() };
        let is_over = Arc::clone(cancel);
        thread::Builder::new()
            .spawn(move || watch.follow(&mut publisher, &is_over))
            .map_err(|error| CommandFailure::from_thread_error(&error))?;
        state.accept(&listener, cancel);
        state.news.end();
        Ok(())
    }
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

/// State that all connections share.
#[derive(Debug)]
struct ServerState {
    pages: ArchiveRequest,
    access: AccessRules,
    site: SiteMemory,
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

/// Publisher of changed runs: to the site, and to the open pages.
struct SitePublisher {
    state: Arc<ServerState>,
    /// Warnings of the last update.
    warnings: Vec<String>,
}

impl StoreFollower for SitePublisher {
    fn update(
        &mut self,
        store: Option<&Store>,
        mut listing: RunListing,
    ) -> Result<(), CommandFailure> {
        let state = &self.state;
        // Verdicts are those of all runs of a label.
        let all_runs = listing.runs.clone();
        listing.runs.retain(|run| state.pages.filter.matches(run));
        let change = state.site.update(store.map(|it| (it, &*all_runs)), listing)?;
        self.warnings.clone_from(&change.warnings);
        if change.differs {
            state.news.announce_change(change);
        }
        Ok(())
    }

    fn report_problem(&mut self, failure: Option<&CommandFailure>) {
        let language = self.state.pages.language;
        let notice = |failure: &CommandFailure| {
            language.scope(|| site::unreadable_text(&failure.reason()))
        };
        self.state.news.set_problem(&failure.map(notice).unwrap_or_default());
    }

    fn show_running(&mut self, running: &mut [RunningRun]) {
        let language = self.state.pages.language;
        let texts = running.iter_mut().map(|run| {
            let (elapsed_s, cases) = run.progress();
            let text = language.scope(|| site::running_text(elapsed_s, cases));
            (run.id().to_owned(), text)
        });
        self.state.news.set_running(&texts.collect::<Vec<_>>());
    }
}

impl ServerState {
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
        match self.site.read(|| self.pages.open_store(), &request.name) {
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
}

fn too_many(what: &str) -> Refusal {
    Refusal::new(503, format!("the server has no room for more {what}; try again"))
}
