mod language;
mod limits;
mod process;
mod sandbox;
