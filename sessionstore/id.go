package sessionstore

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// NewID returns a fresh top-level id: a random (version 4) UUID in lower case.
func NewID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// IsTopLevel reports whether no other session started the session id: whether id holds no
// underscore.
func IsTopLevel(id string) bool { return !strings.Contains(id, "_") }

// KeyID returns the top-level id for a key of a program, such as "telegram:42": any text, always
// the same id, in later versions too, and another id for every other key. It begins with up to
// 32 letters and digits of the key and has 128 bits of its SHA-256.
func KeyID(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := nameOf(key)
	name = strings.TrimRight(name[:min(len(name), 32)], "-")
	return strings.TrimLeft(name+"-"+hex.EncodeToString(sum[:16]), "-")
}

// newEpoch returns a random number for a transcript, unique also among processes. It is
// not 0.
func newEpoch() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.NativeEndian.Uint64(b[:]) | 1
}

const zeroSpan = "0000000000000000"

var (
	subSessionSpans = regexp.MustCompile(`^[0-9a-f]{16}-([0-9a-f]{16})_`)
	traceID         = regexp.MustCompile(`^[0-9a-f]{32}$`)
	notInAgentName  = regexp.MustCompile(`[^a-z0-9]+`)
)

// NewSubID returns a fresh id for a sub-session that the session parent starts
// for agent: {parent span}-{16 random hex digits}_{agent}. The parent span is
// the last span of parent where parent is itself a sub-session, else the
// middle of traceID where that is a trace id of 32 hex digits, else zeros.
func NewSubID(parent, agent, trace string) string {
	span := make([]byte, 8)
	rand.Read(span) // never fails
	return parentSpan(parent, trace) + "-" + hex.EncodeToString(span) + "_" + agentSuffix(agent)
}

func parentSpan(parent, trace string) string {
	if m := subSessionSpans.FindStringSubmatch(parent); m != nil && m[1] != zeroSpan {
		return m[1]
	}
	if traceID.MatchString(trace) {
		return trace[8:24]
	}
	return zeroSpan
}

func agentSuffix(agent string) string { return cmp.Or(nameOf(agent), "agent") }

// nameOf returns the letters and digits of a text in lower case, with a hyphen for what is between.
func nameOf(text string) string {
	return strings.Trim(notInAgentName.ReplaceAllString(lowerName(text), "-"), "-")
}

// lowerName lower-cases as Python does where that matters for ASCII results:
// U+0130 becomes an i and a combining dot, in Go an i alone.
func lowerName(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307"))
}

// ProjectSlug returns the name of the project directory for a project in the directory
// path, which is absolute and free of symlinks: slashes and backslashes become dashes,
// colons vanish, and the first character is always a dash. The mapping is not injective:
// /a/b-c and /a-b/c have one slug.
func ProjectSlug(path string) string { return ownership.ProjectSlug(path) }

// DefaultDir returns the sessions directory of the project whose working
// directory is cwd: projects/<slug>/sessions in $AMPLIFIER_HOME, or in
// ~/.amplifier where that is not set. Symlinks in cwd are resolved first, so
// cwd must exist.
func DefaultDir(cwd string) (string, error) {
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return "", wrap("find project of", "", err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", wrap("find project of", "", err)
	}
	projects, err := projectsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(projects, ProjectSlug(resolved), "sessions"), nil
}

// projectsDir returns the directory of projects. As the newer tools do, it
// takes $AMPLIFIER_HOME, expands a leading ~, and resolves symlinks as far as
// the path exists.
func projectsDir() (string, error) {
	home, err := sessiondir.AmplifierHome()
	if err != nil {
		return "", wrap("find home directory", "", err)
	}
	return filepath.Join(resolveExisting(home), "projects"), nil
}

// resolveExisting resolves the symlinks of the longest part of path that
// exists and keeps the rest.
func resolveExisting(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolveExisting(parent), filepath.Base(path))
}
