//! `assay site`: writes a static site of the stored runs into a folder.

use assay_archive::site::{self, SiteRequest};
use assay_report::words;
use assay_run::failure::{CommandFailure, FailureKind};

use crate::arguments::site::SiteArguments;
use crate::failure::exit_code;
use crate::terminal::Terminal;

pub(crate) fn site(
    typed: &SiteArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let pages = typed.filter.archive_request(&typed.store, &typed.screen);
    let request = SiteRequest { pages, folder: &typed.site, is_anonymous: typed.anonymous };
    let written = site::write_site(&request, &mut |warning| terminal.note(warning))?;
    let page = typed.site.join("index.html");
    terminal.print_line(&words::sentence(
        "site-written",
        &[
            ("page", &page.display().to_string()),
            ("runs", &written.runs.to_string()),
            ("written", &written.written.to_string()),
            ("kept", &written.kept.to_string()),
            ("removed", &written.removed.to_string()),
        ],
    ));
    Ok(if written.is_complete { 0 } else { exit_code(FailureKind::Measurement) })
}
