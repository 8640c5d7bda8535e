// Package ownership keeps the coordination state that hosts of agent sessions share: the
// host that runs a root session, and whether the session is being moved elsewhere.
//
// # Words
//
// The state root holds one directory per workspace and session, with
// session.lock, owner.json and checkpoint.json. The native directory is the
// session's own, with its history; a transfer fence there is the file
// transfer-fence.json.
//
// # Guarantees
//
// [Acquire] gives the session to one holder on the machine, whatever process or library
// it is; the kernel ends the hold of a process that dies. [Take] is the same for one
// call: it writes nothing to owner.json and waits for other callers of Take. The lock
// decides; owner.json is for display, and shows a caller that finds the lock busy whether
// to wait: a host keeps it for long, a call does not. A record that a crashed host left
// does no harm, because its process is looked up. Directories and files are exactly as
// private as the reference demands, since the reference refuses other state. A fence that
// cannot be read is a fence.
//
// # Not guaranteed
//
// Nothing stops a writer that does not take the lock. File systems shared between
// machines may not share the lock. Windows has no ownership lock in the reference:
// [Locate] and [Acquire] are [errors.ErrUnsupported] there, while [HasFence] works.
//
// Paths are computed by the rules of Python's pathlib on POSIX, from an [Env]
// and not from the process.
package ownership
