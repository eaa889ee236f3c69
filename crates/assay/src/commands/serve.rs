//! `assay serve`: shows the site of the stored runs to a browser, live.

use assay_archive::server::{ServeRequest, SiteServer};
use assay_run::failure::CommandFailure;

use crate::arguments::serve::ServeArguments;
use crate::signals;
use crate::terminal::Terminal;

pub(crate) fn serve(
    typed: &ServeArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let request = ServeRequest {
        pages: typed.filter.archive_request(&typed.store, &typed.screen),
        bind: typed.bind,
        port: typed.port,
        token_file: typed.token_file.as_deref(),
    };
    let server = SiteServer::open(request, &mut |warning| terminal.note(warning))?;
    // The first list may take seconds, which the signal itself ends.
    let cancel = signals::cancel_on_signals()?;
    terminal.print_line(&server.url());
    server.run(&cancel)?;
    Ok(0)
}
