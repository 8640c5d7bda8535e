package ownership

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

const maxHost = 255 // code points

// A Fence marks a session that is being transferred to another host: no host may run or
// change it here. Only programs that move sessions make or remove one.
type Fence struct {
	SessionID       string
	TransferID      string
	DestinationHost string
	Role            string // source, destination
	Phase           string // staged, committed; a destination is only staged
}

// ParseFence reads the content of a transfer fence of that session. The error is
// [ErrUnsafe] for anything that is not exactly a fence.
func ParseFence(data []byte, sessionID string) (Fence, error) {
	if err := pyjson.Check(data, pyjson.Tolerant); err != nil {
		return Fence{}, &failure{kind: ErrUnsafe, text: FenceName + " is not valid JSON", cause: err}
	}
	raw := pyjson.Trim(data)
	if pyjson.KindOf(raw) != pyjson.Object {
		return Fence{}, untrusted(FenceName + " must contain a JSON object")
	}
	var f Fence
	var version []byte
	found := map[string]bool{}
	for member := range pyjson.Members(raw) {
		name := pyjson.Text(member.Key)
		found[name] = true
		switch text := pyjson.Text(member.Value); name {
		case "version":
			version = member.Value
		case "session_id":
			f.SessionID = text
		case "transfer_id":
			f.TransferID = text
		case "destination_host":
			f.DestinationHost = text
		case "role":
			f.Role = text
		case "phase":
			f.Phase = text
		default:
			return Fence{}, untrusted("invalid session transfer fence")
		}
	}
	if len(found) != 6 || string(version) != "1" || f.SessionID != sessionID || !f.valid() {
		return Fence{}, untrusted("invalid session transfer fence")
	}
	return f, nil
}

func (f Fence) valid() bool {
	n := utf8.RuneCountInString(f.DestinationHost)
	isControl := func(r rune) bool { return r < ' ' }
	return ValidID(f.TransferID) &&
		n >= 1 && n <= maxHost && !strings.ContainsFunc(f.DestinationHost, isControl) &&
		(f.Role == "source" && slices.Contains([]string{"staged", "committed"}, f.Phase) ||
			f.Role == "destination" && f.Phase == "staged")
}

// HasFence reports whether anything has the name of a transfer fence in a session's
// directory. Such a name forbids changes of the session; an error forbids them too.
func HasFence(dir *os.Root) (bool, error) {
	_, err := dir.Lstat(FenceName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadFence returns the fence of a session, nil when there is none. A fence
// that is malformed or not private, and a native directory with a symlink or
// a foreign directory on its way from the native root, are [ErrUnsafe].
func ReadFence(s Session) (*Fence, error) {
	if err := checkNative(s); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(s.NativeDirectory())
	if err != nil {
		return nil, untrustedBecause("cannot open native session directory", err)
	}
	defer dir.Close()
	if err := checkFile(dir, FenceName); err != nil {
		return nil, err
	}
	data, err := readState(dir, FenceName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := ParseFence(data, s.ID)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// checkNative refuses symlinks and foreign directories from the native root
// down to the native directory; modes do not matter there.
func checkNative(s Session) error {
	if s.Sessions != "" { // the user is responsible for the path to it
		_, err := os.Stat(s.NativeDirectory())
		return err
	}
	path := s.NativeRoot
	for _, part := range []string{"", "projects", ProjectSlug(s.Workspace), "sessions", s.ID} {
		path = join(path, part)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil:
			return untrustedBecause("cannot inspect native session directory", err)
		case !info.IsDir(), !Ours(info):
			return untrusted("native session transfer directory is unsafe")
		}
	}
	return nil
}

// A FencedError is [ErrFenced] with the fence.
type FencedError struct {
	Fence Fence
}

func (e *FencedError) Error() string { return ErrFenced.Error() }

func (e *FencedError) Unwrap() error { return ErrFenced }
