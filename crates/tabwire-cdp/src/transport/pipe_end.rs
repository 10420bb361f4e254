//! One end of a pipe that a program inherited: a real pipe, or a socket, because Node creates a socket pair
//! when asked for a pipe.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use bytes::BytesMut;
use rustix::fs::FileType;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

/// An end that is read.
#[derive(Debug)]
pub(crate) enum ReadEnd {
    Pipe(Receiver),
    Socket(UnixStream),
}

/// An end that is written.
#[derive(Debug)]
pub(crate) enum WriteEnd {
    Pipe(Sender),
    Socket(UnixStream),
}

impl ReadEnd {
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        match find_socket(descriptor)? {
            Ok(socket) => Ok(Self::Socket(socket)),
            Err(descriptor) => Receiver::from_owned_fd(descriptor).map(Self::Pipe),
        }
    }

    /// Waits for bytes. A read that does not fill the buffer has taken all bytes, so no second read is made.
    pub(crate) async fn read_buf(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read_buf(buffer).await,
            Self::Socket(socket) => socket.read_buf(buffer).await,
        }
    }
}

impl WriteEnd {
    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        match find_socket(descriptor)? {
            Ok(socket) => Ok(Self::Socket(socket)),
            Err(descriptor) => Sender::from_owned_fd(descriptor).map(Self::Pipe),
        }
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.try_write(bytes),
            Self::Socket(socket) => socket.try_write(bytes),
        }
    }

    pub(crate) fn try_write_vectored(&self, slices: &[io::IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.try_write_vectored(slices),
            Self::Socket(socket) => socket.try_write_vectored(slices),
        }
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.writable().await,
            Self::Socket(socket) => socket.writable().await,
        }
    }
}

/// The descriptor as a socket, or unchanged if it is not a socket.
fn find_socket(descriptor: OwnedFd) -> io::Result<Result<UnixStream, OwnedFd>> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&descriptor)?.st_mode);
    if kind != FileType::Socket {
        return Ok(Err(descriptor));
    }
    let socket = StdUnixStream::from(descriptor);
    // An inherited socket is in the mode that its creator chose; `Receiver` and `Sender` set it for pipes.
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket).map(Ok)
}
