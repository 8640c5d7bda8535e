package syncer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// local is the session on this device, since its last scan.
type local struct {
	*session
	present bool
	changed time.Time // of the session's directory
	main    *track.Chain
	logs    []*ownLog
	files   []*localFile
	doubt   error // the reason why the files must not be changed
	window  track.Window
}

func (e *Syncer) local(id string, w Options) *local { return &local{session: e.session(id, w)} }

// transcript returns the transcript here as a source of lines.
func (l *local) transcript() track.Source {
	return track.Source{
		Core: l.Core, ID: l.id, Name: sessiondir.Transcript, Stream: segment.Transcript, Redact: l.Privacy.Redact, Window: &l.window,
		Sent: func() segment.Point {
			if l.st.Base == nil {
				return segment.Origin(segment.Transcript)
			}
			return *l.st.Base
		},
	}
}

// syncFiles makes the files here durable before the cloud, or the state, says that they
// were: otherwise lines that a power cut takes would look like a rewind, and be removed
// from all devices.
func (l *local) syncFiles(ctx context.Context) error {
	if !l.present {
		return nil
	}
	return track.Gone(l.Core.SyncFiles(ctx, l.id, slices.Concat(sessiondir.Files[:], sessiondir.Imported[:])...))
}

// ownLog returns the log here that continues a stream; nil for none.
func (l *local) ownLog(st segment.Stream) *ownLog {
	for _, log := range l.logs {
		if log.Stream == st {
			return log
		}
	}
	return nil
}

// localFile is a small file on this device.
type localFile struct {
	name    string
	there   bool
	stamp   sessiondir.Stamp
	sum     segment.Hash // of the content as it is sent
	content []byte       // as it is sent; nil when only the sum was needed
	forms   []track.Form // of its lines, where rules changed them
	clock   head.HLC     // of the change in the cloud, or of the change to send
	large   bool         // it is larger than [LargestFile], and stays as it is
	bad     bool         // it is metadata that cannot be parsed, as after a power cut

	gave bool   // it, or its merge, is in the next head
	take []byte // content to write here instead; nil: none
}

// LargestFile is the size of the largest small file that is sent, in bytes.
const LargestFile = 64 << 20

// logNames are the logs of a session. Each device has its own stream of each.
var logNames = [len(sessiondir.Logs)]struct {
	kind segment.Kind
	name string
}{
	{segment.KindEvents, sessiondir.Events},
	{segment.KindPhases, sessiondir.Phases},
	{segment.KindConversation, sessiondir.Conversation},
	{segment.KindStates, sessiondir.StateHistory},
}

// logName returns the name of the file that a stream belongs to.
func logName(st segment.Stream) string {
	for _, l := range logNames {
		if l.kind == st.Kind() {
			return l.name
		}
	}
	return string(st)
}

// ownLog is a log of this device. It begins behind the lines that the file took over from
// another device.
type ownLog struct {
	*track.Chain
	kind segment.Kind
	own  *replica.OwnLog
}

// largeLine reads again the line that the next long line may be stored as a difference
// to. Without it the next long line is stored whole.
func (l *ownLog) largeLine(ctx context.Context, before int64) (*segment.Large, error) {
	if l.own.Large == nil || l.own.Large.N >= before { // of lines that were not stored after all
		return nil, nil
	}
	at, ok, err := l.Mark(ctx, l.own.Large.N)
	if err != nil || !ok {
		return nil, err
	}
	large := *l.own.Large
	for line, err := range l.Lines(ctx, at) {
		large.Line = line
		return &large, err
	}
	return nil, nil
}

// scan reads the files of the session, and records which program wrote the transcript.
func (l *local) scan(ctx context.Context) error {
	if err := l.scanDir(ctx); err != nil || !l.present {
		return err
	}
	own := l.Dirty.TakeOwn(l.id)
	main, err := l.transcript().Scan(ctx, l.st.Main, false)
	if err != nil {
		return track.Gone(err)
	}
	l.noteWriter(main, own)
	return l.scanRest(ctx, main)
}

// peek reads the files of the session as scan does, but records nothing about the writer:
// a later scan finds it out.
func (l *local) peek(ctx context.Context) error {
	if err := l.scanDir(ctx); err != nil || !l.present {
		return err
	}
	own := l.Dirty.IsOwn(l.id)
	main, err := l.transcript().Scan(ctx, l.st.Main, false)
	if err != nil {
		return track.Gone(err)
	}
	l.setWriter(main, own)
	return l.scanRest(ctx, main)
}

// scanRest scans the files beside the transcript, which is main.
func (l *local) scanRest(ctx context.Context, main *track.Chain) error {
	l.main, l.st.Main = main, &main.Followed
	if err := l.scanLogs(ctx); err != nil {
		return track.Gone(err)
	}
	return track.Gone(l.scanFiles(ctx))
}

// scanDir finds out whether the session is here, and reads the state of its directory.
func (l *local) scanDir(ctx context.Context) error {
	l.present, l.doubt = l.Core.Has(l.id), nil
	if !l.present {
		if l.st.RemovedDead(l.sid) {
			l.st.Here = false
			l.Dirty.Returned(l.id)
		}
		l.st.Gone = l.st.Gone || l.st.Here || l.Dirty.Removed(l.id)
		l.main = &track.Chain{Source: l.transcript()}
		return nil
	}
	l.st.Here, l.st.Gone = true, false
	l.Dirty.Returned(l.id)
	return track.Gone(l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		at, err := dir.Stat(".")
		if err != nil {
			return err
		}
		l.changed = at.Mtime
		if _, err := dir.Stat(sessiondir.Marker); !errors.Is(err, fs.ErrNotExist) {
			l.doubt = fmt.Errorf("%w: another program is appending, or was killed while it did", ErrDeferred)
		}
		return nil
	}))
}

// settled reports whether everything here matches the known head, so that no request is
// needed.
func (l *local) settled() bool {
	if len(l.st.Head.Doc) == 0 || !l.present || l.st.Anew != nil {
		return false
	}
	t, err := head.Decode(l.st.Head.Doc, l.sid)
	if err != nil {
		return false
	}
	if t.Deleted {
		return true
	}
	if t.Transcript.Point() != l.main.Point() || l.st.Base == nil || *l.st.Base != l.main.Point() {
		return false
	}
	for _, log := range l.logs {
		if log.There && log.End().N > 0 && t.Logs[log.Stream].Point() != log.Point() {
			return false
		}
	}
	for _, f := range l.files {
		theirs, known := t.Files[f.name]
		if f.there && theirs.Sum != f.sum || !f.there && known && f.name == sessiondir.Metadata {
			return false
		}
	}
	return true
}

func (l *local) scanLogs(ctx context.Context) error {
	l.logs = nil
	for _, log := range logNames {
		own := l.st.Logs[log.kind.String()]
		if own == nil {
			own = &replica.OwnLog{Generation: 1}
		}
		h, err := l.logSource(log.kind, log.name, own).Scan(ctx, own.File, true)
		if err != nil {
			return err
		}
		if h.There && h.End().Offset < own.Inherited { // cut below the lines that were taken over
			if h, err = l.anew(ctx, log.kind, log.name, own, own.Generation); err != nil {
				return err
			}
		}
		if !h.There {
			continue
		}
		own.File = &h.Followed
		l.keepLog(log.kind, own)
		l.logs = append(l.logs, &ownLog{Chain: h, kind: log.kind, own: own})
	}
	return nil
}

func (s *session) keepLog(kind segment.Kind, own *replica.OwnLog) {
	if s.st.Logs == nil {
		s.st.Logs = map[string]*replica.OwnLog{}
	}
	s.st.Logs[kind.String()] = own
}

func (l *local) logSource(kind segment.Kind, name string, own *replica.OwnLog) track.Source {
	st := segment.LogStream(kind, l.Device.ID, own.Generation)
	return track.Source{
		Core: l.Core, ID: l.id, Name: name, Start: own.Inherited, Redact: l.Privacy.Redact, Window: &l.window,
		Stream: st, Sent: func() segment.Point { return l.sentLog(st) },
	}
}

// anew scans a whole log as a new generation of its stream.
func (l *local) anew(ctx context.Context, kind segment.Kind, name string, own *replica.OwnLog, generation int) (*track.Chain, error) {
	*own = replica.OwnLog{Generation: generation, Base: own.Base}
	h, err := l.logSource(kind, name, own).Scan(ctx, nil, true)
	if err == nil {
		own.File = &h.Followed
	}
	return h, err
}

func (l *local) scanFiles(ctx context.Context) error {
	l.files = nil
	return l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		for _, name := range sessiondir.Small {
			f, err := l.scanFile(dir, name)
			if err != nil {
				return err
			}
			l.files = append(l.files, f)
		}
		return l.scanImported(dir)
	})
}

// scanImported adds the files of an import, except files here that rules would have to
// change.
func (l *local) scanImported(dir *sessiondir.Dir) error {
	_, err := dir.Stat(sessiondir.Imported[0])
	none := errors.Is(err, fs.ErrNotExist)
	for _, name := range sessiondir.Imported {
		f := &localFile{name: name}
		if !none {
			if l.Privacy.Redact != nil {
				continue
			}
			if f, err = l.scanFile(dir, name); err != nil {
				return err
			}
		}
		l.files = append(l.files, f)
	}
	return nil
}

func (l *local) scanFile(dir *sessiondir.Dir, name string) (*localFile, error) {
	f := &localFile{name: name}
	known := l.st.Files[name]
	stamp, err := dir.Stat(name)
	f.large = err == nil && stamp.Size > l.LargestFile
	if errors.Is(err, fs.ErrNotExist) || f.large {
		return f, nil
	}
	if known != nil && err == nil && known.InStep() && known.File.Same(stamp) && l.Core.Settled(stamp, known.At) {
		f.there, f.stamp, f.sum, f.forms = true, stamp, known.Seen, known.Forms
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
	f.there, f.stamp = true, stamp
	l.leave(f, content)
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

// leavingFile returns a file as it is sent, redacted line by line. The ids of parents
// that stay here are not sent.
func (s *session) leavingFile(name string, content []byte) []byte {
	if s.verdict.Secret && name == sessiondir.Metadata && pyjson.Check(content, pyjson.Tolerant) == nil {
		content = private.WithoutParents(content, s.id)
	}
	if s.Privacy.Redact == nil {
		return content
	}
	lines := bytes.SplitAfter(content, []byte{'\n'})
	for i, line := range lines {
		body, ended := bytes.CutSuffix(line, []byte{'\n'})
		body = bytes.Clone(s.Privacy.Redact.Line(body))
		if ended {
			body = append(body, '\n')
		}
		lines[i] = body
	}
	return bytes.Join(lines, nil)
}

// load reads the content of a file when only its sum is known.
func (l *local) load(ctx context.Context, f *localFile) error {
	if f.content != nil || !f.there {
		return nil
	}
	own, err := l.raw(ctx, f)
	if err != nil {
		return err
	}
	l.leave(f, own)
	return nil
}

// leave sets the sent form of a file whose content here is own: a file that did not
// change since it was sent keeps the form in which it was sent, whatever the rules are
// now.
func (s *session) leave(f *localFile, own []byte) {
	if known := s.st.Files[f.name]; known != nil && !s.verdict.Secret {
		if sent := sentLines(own, known.Forms); sum(sent) == known.Sum {
			f.content, f.forms = sent, known.Forms
			return
		}
	}
	f.content = s.leavingFile(f.name, own)
	f.forms = lineForms(own, f.content)
}

// raw returns the content of a file here, unchanged since its scan.
func (l *local) raw(ctx context.Context, f *localFile) (own []byte, err error) {
	err = l.Core.Read(ctx, l.id, func(dir *sessiondir.Dir) error {
		content, stamp, err := dir.Read(f.name)
		if err != nil {
			return track.Gone(err)
		}
		if own = content; !stamp.SameContent(f.stamp) {
			return track.ErrMoved
		}
		return nil
	})
	return own, err
}
