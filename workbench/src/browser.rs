//! Headless Chromium, driven over a pipe by its `DevTools` protocol: opens pages, runs scripts in
//! them, takes pictures, and collects every message of the console.
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
        Ok(browser)
    }

    /// Opens an address and waits until the page and its scripts are loaded.
    pub fn open(&mut self, address: &str) -> Result<()> {
        let opened = self.call("Page.navigate", &json!({ "url": address }))?;
        if let Some(error) = opened["errorText"].as_str() {
            bail!("cannot open {address}: {error}");
        }
        self.evaluate(
            "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))",
        )?;
        Ok(())
    }

    /// Evaluates an expression in the page; waits for a promise.
    pub fn evaluate(&mut self, script: &str) -> Result<Value> {
        let asked =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("the script failed: {thrown}");
        }
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is true, also while the page is loaded again; fails after 20
    /// seconds.
    pub fn wait_for(&mut self, condition: &str) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let found = self.evaluate(&format!("Boolean({condition})"));
            if matches!(found, Ok(Value::Bool(true))) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let text = self.evaluate("document.body.innerText")?;
                bail!("never true: {condition}: {found:?}; the page has: {text}");
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sets the size of the page in pixels, and its colour scheme.
    pub fn set_screen(&mut self, width: u32, height: u32, scheme: &str) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "features": [feature] }))?;
        Ok(())
    }

    /// Sends a key to the focused element, as a keyboard does.
    pub fn press(&mut self, key: &str, code: u32, text: &str) -> Result<()> {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "text": if kind == "keyDown" { text } else { "" } });
            self.call("Input.dispatchKeyEvent", &event)?;
        }
        Ok(())
    }

    /// Takes a picture of the page and writes it as PNG, encoded in base64 by the browser.
    pub fn picture(&mut self) -> Result<String> {
        let taken = self.call("Page.captureScreenshot", &json!({ "format": "png" }))?;
        taken["data"].as_str().map(str::to_owned).context("no picture")
    }

    /// Returns the messages of the console so far, and forgets them.
    pub fn messages(&mut self) -> Result<Vec<String>> {
        // Earlier messages are read before this answer.
        self.evaluate("1")?;
        Ok(std::mem::take(&mut self.messages))
    }

    /// Sends a command and returns its result; keeps messages that come before it.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
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
