//! The connections that are open. Peers that keep the server waiting give way to those that come after them, so that
//! however many slow ones cannot lock the page out.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most connections whose peer is waited for: to send its request, or to take its answer.
const MAX_WAITING: usize = 64;

/// Most requests that are answered at a time; more are turned away.
const MAX_ANSWERING: usize = 16;

#[derive(Default)]
struct Open {
    /// The next number.
    next: u64,
    /// Whose peer is waited for, by number: the first has waited longest.
    waiting: BTreeMap<u64, TcpStream>,
    /// Requests that are answered now.
    answering: usize,
}

impl Open {
    /// Waits for one more peer; the one that has been waited for longest may have to go.
    fn wait_for(&mut self, stream: TcpStream) -> u64 {
        if self.waiting.len() >= MAX_WAITING
            && let Some((_, slowest)) = self.waiting.pop_first()
        {
            // Its thread is waiting in a read or write, which ends now; if the peer is gone it ends as well.
            let _ = slowest.shutdown(Shutdown::Both);
        }
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, stream);
        number
    }
}

/// All open connections of a server.
#[derive(Clone, Default)]
pub(super) struct Connections(Arc<Mutex<Open>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection in; its peer is waited for from now on.
    ///
    /// # Errors
    /// If the system has no more handles.
    pub(super) fn enter(&self, stream: &TcpStream) -> std::io::Result<Entered> {
        let stream = stream.try_clone()?;
        let number = self.lock().wait_for(stream);
        Ok(Entered { all: self.clone(), number })
    }
}

/// One of the open connections; dropped, it is none any more, also after a panic.
pub(super) struct Entered {
    all: Connections,
    number: u64,
}

impl Entered {
    /// Makes an answer: meanwhile nobody is waited for, and the connection cannot be closed for another. `None` if too many
    /// are being answered.
    pub(super) fn answer<T>(&mut self, make: impl FnOnce() -> T) -> Option<T> {
        let stream = {
            let mut open = self.all.lock();
            if open.answering >= MAX_ANSWERING {
                return None;
            }
            open.answering += 1;
            open.waiting.remove(&self.number)
        };
        let answering = Answering(&self.all);
        let answer = make();
        drop(answering);
        if let Some(stream) = stream {
            self.number = self.all.lock().wait_for(stream);
        }
        Some(answer)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.all.lock().waiting.remove(&self.number);
    }
}

/// A request that is being answered; dropped, it is not, also after a panic.
struct Answering<'a>(&'a Connections);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.lock().answering -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    /// Both ends of a new connection.
    fn connect(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, peer)
    }

    #[test]
    fn who_has_been_waited_for_longest_gives_way() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let all = Connections::default();
        let mut entered = Vec::new();
        for _ in 0..=MAX_WAITING {
            let (stream, peer) = connect(&listener);
            entered.push((all.enter(&stream).unwrap(), stream, peer));
        }
        assert_eq!(entered[0].1.read(&mut [0]).unwrap(), 0, "closed");
        assert_eq!(entered[0].2.read(&mut [0]).unwrap(), 0, "closed");
        assert_eq!(all.lock().waiting.len(), MAX_WAITING);
        // The next in line is being answered while others come, and goes to the end of the line.
        let first_of_line = entered.remove(1);
        let (mut answered, stream, _peer) = first_of_line;
        let newcomers: Vec<_> = answered
            .answer(|| {
                let enter = |(stream, peer)| (all.enter(&stream).unwrap(), stream, peer);
                (0..MAX_WAITING - 1).map(|_| enter(connect(&listener))).collect()
            })
            .unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut stream = stream;
        assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "still open");
        drop((newcomers, entered, answered));
        assert!(all.lock().waiting.is_empty());
    }

    #[test]
    fn only_so_many_are_answered_at_a_time() {
        fn nested(all: &Connections, listener: &TcpListener, depth: usize) -> usize {
            let (stream, _peer) = connect(listener);
            all.enter(&stream).unwrap().answer(|| nested(all, listener, depth + 1)).unwrap_or(depth)
        }
        let all = Connections::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(nested(&all, &listener, 0), MAX_ANSWERING);
        assert_eq!(all.lock().answering, 0);
    }
}
