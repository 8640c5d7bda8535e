package ownership

import "errors"

// The kinds of errors. The messages of the errors of [Acquire] and similar functions are
// the reference's, so the kinds are found by errors.Is alone.
var (
	// ErrBusy is returned when another holder has the session; see [BusyError].
	ErrBusy = errors.New("shared session is busy")
	// ErrFenced is returned when a transfer forbids running the session; see
	// [FencedError].
	ErrFenced = errors.New("session execution is fenced by a durable transfer")
	// ErrUnsafe is returned for state that cannot be trusted: a wrong type, owner or
	// mode, a symlink, or content that does not parse.
	ErrUnsafe = errors.New("shared state is unsafe")
	// ErrNoLocks is returned when the file system of the state has no locks.
	ErrNoLocks = errors.New("file system has no locks")
	// ErrInvalid is returned for a refused workspace, id or other argument.
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
