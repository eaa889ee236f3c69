//! Headless Chromium, driven over pipes by the `DevTools` protocol: pages, keys, scripts, pictures.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, thread};

use serde_json::{Value, json};

use crate::program::World;

/// Running browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    calls: u64,
    /// Messages of the console and exceptions since the page was opened.
    messages: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns the program, or prints that a test is skipped.
pub(crate) fn find_chromium(test: &str) -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|it| it.is_file());
    if found.is_none() {
        eprintln!("SKIPPED {test}: chromium not found");
    }
    found
}

impl Browser {
    /// Starts a browser; `None` if the machine has none.
    pub(crate) fn start(world: &World, test: &str) -> Option<Self> {
        let program = find_chromium(test)?;
        let pipes = ["browser-in", "browser-out"].map(|name| world.path(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        let mut shell = Command::new("sh");
        // Descriptors 3 and 4 carry the protocol.
        shell.args(["-c", "exec \"$@\" 3<\"$0.in\" 4>\"$0.out\""]);
        let base = world.path("browser");
        fs::rename(&pipes[0], base.with_extension("in")).unwrap();
        fs::rename(&pipes[1], base.with_extension("out")).unwrap();
        let process = shell
            .arg(&base)
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", world.path("profile").display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Opening a pipe waits for its other end, which the shell opens in the same order.
        let to = File::options().write(true).open(base.with_extension("in")).unwrap();
        let from = BufReader::new(File::open(base.with_extension("out")).unwrap());
        let (session, messages) = (String::new(), Vec::new());
        let mut browser = Self { process, to, from, session, calls: 0, messages };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        Some(browser)
    }

    /// Calls a method and returns its result; collects messages of the console meanwhile.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let mut request = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert!(bytes.pop() == Some(0), "the browser has ended during {method}");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let is_message =
                ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]
                    .iter()
                    .any(|it| answer["method"] == *it);
            if is_message {
                self.messages.push(answer["params"].to_string());
            }
        }
    }

    /// Opens an address in a window of this width and theme.
    pub(crate) fn open(&mut self, address: &str, width: u32, theme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme =
            json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.call("Emulation.setEmulatedMedia", &scheme);
        // A change of the part after `#` alone would not load the page again.
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.messages.clear();
        self.call("Page.navigate", &json!({ "url": address }));
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Opens a file of a site.
    pub(crate) fn open_file(&mut self, path: &Path, part: &str) {
        self.open(&format!("file://{}{part}", path.display()), 1280, "light");
    }

    /// Evaluates an expression or a promise.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait(&mut self, condition: &str) {
        for _ in 0..1500 {
            if self.evaluate(&format!("Boolean({condition})")) == true {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let page = self.evaluate("document.body.innerText");
        panic!("{condition} is never true: {page}; {:?}", self.messages);
    }

    /// Waits until the script of the site has filled its page.
    #[track_caller]
    pub(crate) fn wait_until_ready(&mut self) {
        self.wait("document.body?.dataset.ready");
    }

    /// Presses and releases a key, as a person does: `Tab`, `Enter` or ` `.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            _ => ("Space", 32, " "),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Presses Tab until the focused element fulfils a condition, at most a hundred times.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, condition: &str) {
        for _ in 0..100 {
            self.press("Tab");
            if self.evaluate(&format!("Boolean(((it) => {condition})(document.activeElement))"))
                == true
            {
                return;
            }
        }
        panic!("no key leads to {condition}");
    }

    /// Clicks the middle of an element with the mouse.
    #[track_caller]
    pub(crate) fn click(&mut self, element: &str) {
        let place = format!(
            "(() => {{ const it = {element}; it.scrollIntoView({{ block: 'center' }}); \
             const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let place = self.evaluate(&place);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Returns the messages of the console since the page was opened.
    pub(crate) fn messages(&mut self) -> Vec<String> {
        // Messages arrive before the answer of a later call.
        self.evaluate("0");
        self.messages.clone()
    }

    /// Checks that nothing was reported, and that the page is not wider than the window.
    #[track_caller]
    pub(crate) fn check_page(&mut self, name: &str) {
        assert_eq!(self.messages(), Vec::<String>::new(), "{name}");
        let width = self.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(width.as_f64().unwrap() <= 0.0, "{name} is {width} px too wide");
    }
}
