//! Arithmetic in fio's values: `(1024*4)`, `(8k+4k)/2`, `2*$mb_memory` after keyword expansion.
//!
//! Supports the operators `+ - * / % ^` and parentheses with the usual precedence. A number may
//! carry a unit, which the caller parses. Never panics or loops on any input: the nesting depth is
//! bounded.

/// Maximum nesting depth; keeps recursion within the stack.
const DEEPEST: u32 = 64;

/// Evaluates the expression; `number` parses one operand with its unit. Returns `None` for a
/// malformed expression or a division by zero.
pub(super) fn evaluate(text: &str, number: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = Reader { text, at: 0, depth: 0, number };
    let value = reader.sum()?;
    reader.skip_blanks();
    (reader.at == text.len() && value.is_finite()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    number: &'a dyn Fn(&str) -> Option<f64>,
}

impl Reader<'_> {
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(operator) = self.operator(b"+-") {
            let next = self.product()?;
            value = if operator == b'+' { value + next } else { value - next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        while let Some(operator) = self.operator(b"*/%") {
            let next = self.power()?;
            if operator != b'*' && next == 0.0 {
                return None;
            }
            value = match operator {
                b'*' => value * next,
                b'/' => value / next,
                _ => value % next,
            };
        }
        Some(value)
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.operand()?;
        match self.operator(b"^") {
            Some(_) => {
                self.deeper()?;
                let value = base.powf(self.power()?);
                self.depth -= 1;
                Some(value)
            }
            None => Some(base),
        }
    }

    fn operand(&mut self) -> Option<f64> {
        self.skip_blanks();
        if self.operator(b"-").is_some() {
            self.deeper()?;
            let value = -self.operand()?;
            self.depth -= 1;
            return Some(value);
        }
        if self.operator(b"(").is_some() {
            self.deeper()?;
            let value = self.sum()?;
            self.depth -= 1;
            return self.operator(b")").map(|_| value);
        }
        let rest = &self.text[self.at..];
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
        let length = rest.find(ends).unwrap_or(rest.len());
        let value = (self.number)(&rest[..length])?;
        self.at += length;
        Some(value)
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    fn operator(&mut self, accepted: &[u8]) -> Option<u8> {
        self.skip_blanks();
        let next = *self.text.as_bytes().get(self.at)?;
        accepted.contains(&next).then(|| {
            self.at += 1;
            next
        })
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }
}
