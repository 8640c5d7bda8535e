package sessiondir

import (
	"regexp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Reserved reports whether a session's directory may not be called id: the name belongs
// to the bookkeeping, the trash or a lock, also where case is ignored, or is one of
// [vfs.OfSystem].
func Reserved(id string) bool {
	if !strings.HasPrefix(id, ".") {
		return vfs.OfSystem(id)
	}
	lower := strings.ToLower(id)
	return lower == Bookkeeping || lower == Trash || strings.HasSuffix(lower, lockExt)
}

// maxForeign is the longest id that Foreign accepts: with it the lock that the Python tools
// lay beside a session has a name that file systems allow.
const maxForeign = maxName - len("."+lockExt)

var (
	foreign = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	device  = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)`)
)

// Foreign returns the reason why a session that comes from outside, from an archive, a
// remote or another tool, does not get the id here; "" where it may. Such an id begins with
// an ASCII letter or digit, has only these and "._-" after it, and is a name on every
// system: no shell, terminal or program takes it for anything else. It is stricter than
// the rule for ids that programs choose, which [Reserved] is part of.
func Foreign(id string) (reason string) {
	switch {
	case len(id) > maxForeign:
		return "it is longer than 240 bytes"
	case !foreign.MatchString(id):
		return "it is not made of ASCII letters, digits, dots, hyphens and underscores, or begins with one of the last three"
	case Device(id):
		return "it names a Windows device"
	case strings.HasSuffix(id, "."):
		return "it ends in a dot, which Windows drops"
	}
	return ""
}

// Device reports whether Windows takes the file name for a device.
func Device(name string) bool { return device.MatchString(name) }
