//! Headless Chromium, driven over a pipe by its `DevTools` protocol: opens pages, runs scripts in
//! them, presses keys, clicks, and collects every message of the console.
//!
//! Scripts of the driver run also under a content security policy that forbids all others.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// Time after which a browser that hangs is ended, in seconds.
const MAX_SECONDS: &str = "300";

/// Height of the page, in pixels.
const HEIGHT: u32 = 900;
/// Time within which a condition has to become true, and between two checks.
const MAX_WAIT: Duration = Duration::from_secs(30);
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of presses of Tab on the way to an element.
const MAX_TABS: usize = 100;

/// Returns the program of Chromium, if it is installed.
pub fn find_chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|it| it.is_file())
}

/// Browser with one page; it ends when it is dropped.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    last_id: u64,
    session: String,
    messages: Vec<String>,
}

impl Browser {
    /// Starts a browser that keeps its data in `profile`.
    pub fn start(program: &Path, profile: &Path) -> Result<Self> {
        // The browser reads commands from descriptor 3 and writes to 4.
        let mut command = Command::new("timeout");
        command
            .args([
                MAX_SECONDS,
                "sh",
                "-c",
                "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null",
                "sh",
            ])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().context("cannot start the browser")?;
        let commands = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("no output")?);
        let (session, messages) = (String::new(), Vec::new());
        let mut browser = Self { process, commands, answers, last_id: 0, session, messages };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach)?;
        attached["sessionId"].as_str().context("no session")?.clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}))?;
        }
        browser.set_screen(1280, "light")?;
        Ok(browser)
    }

    /// Opens an address and waits until the page and its scripts are loaded.
    pub fn open(&mut self, address: &str) -> Result<()> {
        // A change of the part after `#` alone would not load the page again.
        for address in ["about:blank", address] {
            let opened = self.call("Page.navigate", &json!({ "url": address }))?;
            if let Some(error) = opened["errorText"].as_str() {
                bail!("cannot open {address}: {error}");
            }
        }
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
    }

    /// Opens a file; `part` is empty, or begins with `#`.
    pub fn open_file(&mut self, path: &Path, part: &str) -> Result<()> {
        self.open(&format!("file://{}{part}", path.display()))
    }

    /// Evaluates an expression in the page; waits for a promise.
    pub fn evaluate(&mut self, script: &str) -> Result<Value> {
        let asked =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("the script failed: {script}: {thrown}");
        }
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is true, also while the page is loaded again.
    pub fn wait_for(&mut self, condition: &str) -> Result<()> {
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            let found = self.evaluate(&format!("Boolean({condition})"));
            if matches!(found, Ok(Value::Bool(true))) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let text = self.evaluate("document.body.innerText")?;
                let messages = &self.messages;
                bail!("never true: {condition}: {found:?}; the page has: {text}; {messages:?}");
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Waits until the script of a site has filled its page.
    pub fn wait_until_ready(&mut self) -> Result<()> {
        self.wait_for("document.body.dataset.ready")
    }

    /// Sets the width of the page in pixels, and its colour scheme.
    pub fn set_screen(&mut self, width: u32, scheme: &str) -> Result<()> {
        let size = json!({ "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "features": [feature] }))?;
        Ok(())
    }

    /// Presses and releases a key, as a keyboard does: `Tab`, `Enter` or a blank.
    pub fn press(&mut self, key: &str) -> Result<()> {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            " " => ("Space", 32, " "),
            _ => bail!("the driver does not know the key {key}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({
                "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "text": text,
            });
            self.call("Input.dispatchKeyEvent", &event)?;
        }
        Ok(())
    }

    /// Presses Tab until the focused element `it` fulfils a condition.
    pub fn tab_to(&mut self, condition: &str) -> Result<()> {
        let is_there = format!("Boolean(((it) => {condition})(document.activeElement))");
        for _ in 0..MAX_TABS {
            self.press("Tab")?;
            if self.evaluate(&is_there)? == true {
                return Ok(());
            }
        }
        bail!("no key leads to {condition}")
    }

    /// Clicks the middle of an element with the mouse.
    pub fn click(&mut self, element: &str) -> Result<()> {
        let place = self.evaluate(&format!(
            "(() => {{ const it = {element}; it.scrollIntoView({{ block: 'center' }}); \
             const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ))?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// Checks that the console has no message, and that the page is not wider than the window.
    pub fn check_page(&mut self) -> Result<()> {
        let messages = self.messages()?;
        let address = self.evaluate("location.href")?;
        if !messages.is_empty() {
            bail!("{address} has messages: {messages:?}");
        }
        let excess = self.evaluate("document.documentElement.scrollWidth - innerWidth")?;
        if excess.as_f64().is_none_or(|pixels| pixels > 0.0) {
            bail!("{address} is {excess} px too wide");
        }
        Ok(())
    }

    /// Returns the messages of the console so far, and forgets them.
    pub fn messages(&mut self) -> Result<Vec<String>> {
        // Earlier messages are read before this answer.
        self.evaluate("1")?;
        Ok(std::mem::take(&mut self.messages))
    }

    /// Sends a command and returns its result; keeps messages that come before it.
    fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let commands = self.commands.as_mut().context("the browser has ended")?;
        commands.write_all(format!("{command}\0").as_bytes())?;
        loop {
            let mut text = Vec::new();
            if self.answers.read_until(0, &mut text)? == 0 {
                bail!("the browser ended during {method}");
            }
            text.pop();
            let mut answer: Value = serde_json::from_slice(&text)?;
            if answer["id"] == self.last_id {
                return match answer.get("error") {
                    Some(error) => bail!("{method}: {error}"),
                    None => Ok(answer["result"].take()),
                };
            }
            self.messages.extend(console_message(&answer));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Without its pipe the browser ends; it is killed only if it does not.
        self.commands = None;
        for _ in 0..50 {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns the text of an event that a user sees in the console.
fn console_message(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    match event["method"].as_str()? {
        "Log.entryAdded" => {
            let entry = &parameters["entry"];
            Some(format!("{}: {} {}", entry["level"], entry["text"], entry["url"]))
        }
        "Runtime.exceptionThrown" => Some(parameters["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" => Some(parameters["args"].to_string()),
        _ => None,
    }
}
