package ownership

import "errors"

// What callers tell apart. The messages that [Acquire] and its like return are
// the reference's, so the sentinels are met by errors.Is alone.
var (
	// ErrBusy tells that another holder has the session; see [BusyError].
	ErrBusy = errors.New("shared session is busy")
	// ErrFenced tells that a transfer forbids to run the session; see [FencedError].
	ErrFenced = errors.New("session execution is fenced by a durable transfer")
	// ErrUnsafe tells that state cannot be trusted: a wrong type, owner or mode,
	// a symlink, or content that does not parse.
	ErrUnsafe = errors.New("shared state is unsafe")
	// ErrNoLocks tells that the file system of the state has no locks.
	ErrNoLocks = errors.New("file system has no locks")
	// ErrInvalid tells that a workspace, id or other argument is refused.
	ErrInvalid = errors.New("invalid session identity")
)

// failure is an error of a kind whose message is the reference's own text.
type failure struct {
	kind, cause error
	text        string
}

func (e *failure) Error() string { return e.text }

func (e *failure) Unwrap() []error { return []error{e.kind, e.cause} }

func invalid(text string) error { return &failure{kind: ErrInvalid, text: text} }

func untrusted(text string) error { return &failure{kind: ErrUnsafe, text: text} }

// untrustedBecause shows cause too: it comes from the operating system.
func untrustedBecause(text string, cause error) error {
	return &failure{kind: ErrUnsafe, text: text + ": " + cause.Error(), cause: cause}
}
