package hybrid

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/tip"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// fileNames are the small files of a session that go as they are.
var fileNames = []string{sessiondir.Metadata, sessiondir.Config, "state.json"}

// localFile is a small file as it stands here.
type localFile struct {
	name    string
	there   bool
	stamp   sessiondir.Stamp
	sum     segment.Hash // of the content as it leaves
	content []byte       // as it leaves; nil when only the sum was needed
	bad     bool         // it is metadata that nobody can read, as a power cut leaves it

	gave bool   // it, or what it was merged to, is in the next tip
	take []byte // what is to stand here instead; nil: nothing
}

// largestFile is the largest small file that goes, in bytes.
const largestFile = 64 << 20

func (v *visit) lookAtFiles(ctx context.Context) error {
	v.files = nil
	return v.in.Read(ctx, v.id, func(dir *sessiondir.Dir) error {
		for _, name := range fileNames {
			f, err := v.lookAtFile(dir, name)
			if err != nil {
				return err
			}
			v.files = append(v.files, f)
		}
		return nil
	})
}

func (v *visit) lookAtFile(dir *sessiondir.Dir, name string) (*localFile, error) {
	f := &localFile{name: name}
	known := v.st.Files[name]
	stamp, err := dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || stamp.Size > largestFile {
		return f, nil
	}
	if known != nil && err == nil && known.File.Same(stamp) && v.in.Settled(stamp, known.At) {
		f.there, f.stamp, f.sum = true, stamp, known.Seen
		return f, nil
	}
	at := time.Now()
	content, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f.there, f.stamp, f.content = true, stamp, v.leavingFile(content)
	if name == sessiondir.Metadata {
		_, err := sessionstore.ParseMetadata(content)
		f.bad = err != nil
	}
	f.sum = sha256.Sum256(f.content)
	if known != nil && !f.bad {
		known.File, known.At, known.Seen = stamp, at, f.sum
	}
	return f, nil
}

// leavingFile returns a file as it leaves the device, redacted line by line.
func (v *visit) leavingFile(content []byte) []byte {
	if v.opts.Redact == nil {
		return content
	}
	lines := bytes.SplitAfter(content, []byte{'\n'})
	for i, line := range lines {
		body, ended := bytes.CutSuffix(line, []byte{'\n'})
		body = bytes.Clone(v.opts.Redact.Line(body))
		if ended {
			body = append(body, '\n')
		}
		lines[i] = body
	}
	return bytes.Join(lines, nil)
}

// load reads the content of a file of which only the sum is known.
func (v *visit) load(ctx context.Context, f *localFile) error {
	if f.content != nil || !f.there {
		return nil
	}
	return v.in.Read(ctx, v.id, func(dir *sessiondir.Dir) error {
		content, stamp, err := dir.Read(f.name)
		if err != nil {
			return gone(err)
		}
		if !stamp.SameContent(f.stamp) {
			return errMoved
		}
		f.content = v.leavingFile(content)
		return nil
	})
}

// pushFiles merges the small files of both sides, stores what is new, and
// notes what is to be taken. Without push it only notes.
func (v *visit) pushFiles(ctx context.Context, next *tip.Tip, box *outbox, push bool) (changed bool, err error) {
	for _, f := range v.files {
		theirs, remote := next.Files[f.name]
		known := v.st.Files[f.name]
		here := f.there && (known == nil || known.Sum != f.sum)
		there := remote && (known == nil || known.Sum != theirs.Sum || !f.there && f.name == sessiondir.Metadata)
		switch {
		case f.bad: // it never leaves, and the next write here mends it, if its backup is good
			if _, err = v.store.Metadata(ctx, v.id); remote && errors.Is(err, sessionstore.ErrCorrupt) {
				err = v.takeFile(ctx, f, theirs)
			} else {
				err = nil
			}
		case f.there && remote && f.sum == theirs.Sum:
			if err := v.inStep(ctx, f); err != nil {
				return changed, err
			}
		case there && !here:
			err = v.takeFile(ctx, f, theirs)
		case here && !there && push:
			err = v.giveFile(ctx, f, next, box, nil)
		case here && there && push:
			err = v.mergeFile(ctx, f, next, box)
		}
		changed = changed || f.gave
		if err != nil {
			return changed, fmt.Errorf("sync %s: %w", f.name, err)
		}
	}
	return changed, nil
}

// inStep notes that both sides have the file as it stands.
func (v *visit) inStep(ctx context.Context, f *localFile) error {
	if known := v.st.Files[f.name]; known != nil && known.Sum == f.sum {
		return nil
	}
	if err := v.load(ctx, f); err != nil {
		return err
	}
	v.know(f, f.content, f.sum)
	return nil
}

// know notes base as what both sides have, where the file here has the sum
// seen.
func (v *visit) know(f *localFile, base []byte, seen segment.Hash) {
	k := &knownFile{Sum: sha256.Sum256(base), Seen: seen, File: f.stamp, At: time.Now()}
	if f.name == sessiondir.Metadata {
		k.Base = base
	}
	if v.st.Files == nil {
		v.st.Files = map[string]*knownFile{}
	}
	v.st.Files[f.name] = k
}

// giveFile stores content, or the file as it stands here.
func (v *visit) giveFile(ctx context.Context, f *localFile, next *tip.Tip, box *outbox, content []byte) error {
	if content == nil {
		if err := v.load(ctx, f); err != nil {
			return err
		}
		content = f.content
	}
	blob, docs := segment.Pack(v.sid, content)
	if err := box.take(ctx, docs); err != nil {
		return err
	}
	if next.Files == nil {
		next.Files = map[string]tip.File{}
	}
	next.Files[f.name] = tip.File{Blob: blob, Clock: v.clock(f, next), Summary: summary(f.name, content)}
	f.gave = true
	return nil
}
