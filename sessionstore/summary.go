package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Summary is the line of a session in a list. The counts are from the transcript, chosen
// and recovered as by [Store.Load]; the rest is from metadata, where a member that is
// missing or of another type counts as unknown.
type Summary struct {
	ID          string
	Title       string // the session's name, else the first line of FirstPrompt; at most 120 characters, without control and bidirectional ones
	FirstPrompt string // the first text that a person wrote, at most 500 characters, without control and bidirectional ones except line breaks and tabs
	Turns       int    // as package slice counts them: user messages without results of tools
	Prompts     int    // prompts of a person, without the texts that hosts insert in the user's name; lists show these
	Messages    int
	Bytes       int64     // size of the file that the messages were read from
	Created     time.Time // in UTC; zero if unknown
	Changed     time.Time // Modified of [Info]; of a session that was imported from another tool the time of its last line, until it goes on here
	Model       string    // "" if unknown
	Bundle      string    // without its prefix "bundle:"; "" if unknown
	WorkingDir  string    // "" if unknown
	Parent      string    // id of the session from which this one was made; "" if unknown
	Fork        bool      // it was forked from Parent and is independent of it
	ConflictOf  string    // its Parent, when both went on on two devices and package hybrid keeps the messages of one of them in this session; else ""
	Sub         bool      // an agent of Parent ran it
	Internal    bool      // its label hides it in lists for people
	Damaged     bool      // the transcript or the metadata is damaged, even if its backup was read
	Unanswered  int       // ids of tool calls that no later message answers
	Refused     int       // results of no call, and damaged pictures, of which some providers look at those in prompts alone
	Pictures    int       // in prompts and results, with their data
	Side        int       // the most pixels of their widths and heights
}

// summaryOf returns the summary in the entry of a session that changed at a time.
func summaryOf(e *index.Entry, changed time.Time) Summary {
	f, a := &e.Facts, &e.About
	s := Summary{
		ID: e.ID, Title: titleOf(a.Name, e.Prompt), FirstPrompt: e.Prompt,
		Turns: f.Turns, Prompts: f.Prompts, Messages: f.Messages, Unanswered: f.Unanswered, Bytes: f.Size,
		Refused: f.Refused, Pictures: f.Pictures.Pictures, Side: f.Side,
		Created: a.Created, Changed: changed, Model: a.Model, Bundle: a.Bundle, WorkingDir: a.WorkingDir, Parent: a.Parent,
		Fork: a.Fork, Sub: a.Sub, Internal: a.Internal,
	}
	if a.Conflict {
		s.ConflictOf = a.Parent
	}
	if at := e.Transcript.Stamp.Mtime; a.Imported && !at.IsZero() && at.Before(changed) {
		s.Changed = at.Local() // as a directory's
	}
	return s
}

// aboutOf returns the facts about session id in the metadata. [KindOf] has the rules for
// its kind.
func aboutOf(id string, md Metadata) index.About {
	bundle, _ := md.Bundle()
	r := relationOf(md)
	a := index.About{
		Name: md.Text("name"), Model: known(md.Text("model")), Bundle: bundle, WorkingDir: known(md.Text("working_dir")), Parent: r.parent,
		Fork: r.fork, Internal: r.kind == Internal, Sub: r.kind == Worker || !r.decided && !IsTopLevel(id),
		Conflict: r.fork && r.parent != "" && r.parent == md.Text("conflict_of"), // a fork of such a session has another parent
	}
	if raw, ok := md.Lookup("import"); ok { // as package foreign notes it
		a.Imported = pyjson.KindOf(raw) == pyjson.Object
	}
	if at, ok := parseTime(md.Text("created")); ok {
		a.Created = at.UTC()
	}
	return a
}

// known returns text, or "" for "unknown".
func known(text string) string {
	if text == "unknown" {
		return ""
	}
	return text
}

// How many characters of a title and of a first prompt a [Summary] has.
const (
	titleLimit  = 120
	promptLimit = 500
)

// promptHead is how many bytes of a long prompt are decoded at first. They are nearly always
// enough for what a [Summary] shows.
const promptHead = 16 << 10

// promptText returns the text of a message as a [Summary] shows it.
func promptText(m Message) string {
	for most := promptHead; ; most = math.MaxInt {
		content, whole := m.contentHead(most)
		text := shorten(content, promptLimit, func(r rune) bool { return r == '\n' || r == '\t' })
		if whole || utf8.RuneCountInString(text) == promptLimit {
			return strings.TrimSpace(text)
		}
	}
}

// titleOf returns the title of a session with that name and first prompt.
func titleOf(name, prompt string) string {
	for _, text := range [...]string{name, prompt} {
		for line := range strings.Lines(text) {
			line = strings.ReplaceAll(line, "\t", " ")
			if line = strings.TrimSpace(shorten(line, titleLimit, func(rune) bool { return false })); line != "" {
				return line
			}
		}
	}
	return ""
}

// shorten returns the first n characters of text, without space before them, and without
// control and bidirectional characters except those that keep accepts. Bytes that are no
// UTF-8 become U+FFFD.
func shorten(text string, n int, keep func(rune) bool) string {
	text = strings.TrimLeftFunc(text, isSpace)
	if plain := text[:min(len(text), n)]; isPlain(plain) {
		return strings.Clone(plain)
	}
	var b strings.Builder
	b.Grow(min(len(text), n))
	for _, r := range text {
		if hidden(r) && !keep(r) {
			continue
		}
		if n--; n < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPlain reports whether a text has only printing characters of ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= unicode.MaxASCII {
			return false
		}
	}
	return true
}

// hidden reports whether r is a control or bidirectional character, or breaks
// lines.
func hidden(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// place is a session that is about to be summarized.
type place struct {
	project string // of a listing; "": of the one store
	id      string
	number  int // in its listing
	changed time.Time
	dir     sessiondir.Stamp // of its directory; zero: not known, or a symlink
	lost    error            // set for a symlink that leads to no directory
}

// summarizer summarizes sessions of one store. Several goroutines may call summarize at
// once.
type summarizer struct {
	st     *Store
	files  *index.Files
	stat   func(id, name string) (is sessiondir.Stamp, regular bool, err error)
	at     time.Time // before the sessions were listed
	load   [index.Shards]sync.Once
	shards [index.Shards]index.Shard

	summarized []bool // by the numbers of places

	mu      sync.Mutex
	changes []index.Change // of entries that were missing or wrong; guarded by mu
}

func newSummarizer(st *Store) *summarizer {
	z := &summarizer{st: st, files: st.index(), stat: st.base.Stat, at: time.Now()}
	if stat, err := st.base.StatMany(); err == nil {
		z.stat = stat
	}
	return z
}

// shard returns the entries of the shard that session id belongs to.
func (z *summarizer) shard(n int) index.Shard {
	z.load[n].Do(func() { z.shards[n] = z.files.Shard(n) })
	return z.shards[n]
}

// summarize returns the summary of a session. If it had to read files, write puts the
// result into the index later.
func (z *summarizer) summarize(ctx context.Context, p place) (Summary, error) {
	e, ok := z.shard(index.Of(p.id))[p.id]
	if !ok {
		e = index.Entry{ID: p.id}
	}
	damaged, changed := false, false
	holds := ok && z.holds(&e, p)
	if !holds {
		fresh := index.Entry{ID: p.id, HasMetadata: e.HasMetadata, Metadata: e.Metadata, About: e.About}
		sound, err := z.count(ctx, &fresh, p)
		if err != nil {
			return Summary{}, err
		}
		if !sound {
			if damaged, err = z.countWhole(ctx, &fresh); err != nil {
				return Summary{}, err
			}
		}
		e, changed = fresh, sound
	}
	renewed, torn, err := z.about(&e)
	if err != nil {
		return Summary{}, err
	}
	if renewed && e.Transcript.Stamp == (sessiondir.Stamp{}) { // the metadata decides whether the transcript is missing
		e.Transcript.Sure = false
	}
	switch {
	case e.Transcript.Sure && (changed || renewed && e.Fits()):
		found := e // found leaves the stack, e does not
		z.change(index.Change{ID: p.id, Put: &found})
	case ok && !(holds && e.Transcript.Sure):
		z.change(index.Change{ID: p.id})
	}
	s := summaryOf(&e, p.changed)
	s.Damaged = damaged || torn
	return s, nil
}

// change notes a change of the index.
func (z *summarizer) change(c index.Change) {
	z.mu.Lock()
	z.changes = append(z.changes, c)
	z.mu.Unlock()
}

// holds reports whether the entry is right about the present transcript.
func (z *summarizer) holds(e *index.Entry, p place) bool {
	is, regular, err := z.stat(p.id, sessiondir.Transcript)
	if errors.Is(err, fs.ErrNotExist) && e.HasMetadata && e.Transcript == (index.Seen{Sure: true}) {
		is, regular, err = z.stat(p.id, sessiondir.Metadata)
		return err == nil && regular && e.Metadata.Fits(is) && e.Dir.Fits(p.dir)
	}
	if err != nil || !regular || !e.Transcript.Fits(is) || e.Facts.Size != is.Size {
		return false
	}
	if is.Size == 0 {
		return e.Dir.Fits(p.dir) // no program has put a backup or a marker there
	}
	if p.dir != (sessiondir.Stamp{}) && e.Dir.Fits(p.dir) {
		return true // no program has put a marker there
	}
	_, _, err = z.stat(p.id, sessiondir.Marker)
	return errors.Is(err, fs.ErrNotExist)
}

// count reads the transcript of a session in the fast way. It reports false
// when the transcript is damaged, or empty beside a backup, or there is no fast way.
func (z *summarizer) count(ctx context.Context, e *index.Entry, p place) (sound bool, err error) {
	st := z.st
	if _, _, err := z.stat(p.id, sessiondir.Marker); !errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	e.Dir = index.Seen{Stamp: p.dir, Sure: p.dir != (sessiondir.Stamp{}) && st.base.Settled(p.dir, z.at)}
	ok := st.base.View(p.id, sessiondir.Transcript, func(data []byte, at sessiondir.Stamp) {
		sound = countRead(e, data, at)
	})
	if !ok {
		is, regular, err := z.stat(p.id, sessiondir.Transcript)
		if err == nil && regular && is.Size >= index.LargeFrom {
			return z.countLarge(ctx, e)
		}
	}
	return sound || z.countEmpty(e), nil
}

// countEmpty is count for a session without messages, whose transcript is empty or
// missing. It reports false where a later change may not show in the stamps, and where
// messages were lost: there is a backup, or the metadata counts turns.
func (z *summarizer) countEmpty(e *index.Entry) bool {
	if !e.Dir.Sure || !z.st.base.IsLocal() {
		return false
	}
	at, regular, err := z.stat(e.ID, sessiondir.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		md, ok := z.readAbout(e)
		if turns, _ := md.Int("turn_count"); !ok || turns > 0 {
			return false
		}
	case err != nil, !regular, at.Size > 0, !z.st.base.Settled(at, z.at):
		return false
	}
	if _, _, err := z.stat(e.ID, sessiondir.Backup(sessiondir.Transcript)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	e.Transcript, e.Facts, e.Prompt = index.Seen{Stamp: at, Sure: true}, index.Facts{}, ""
	return true
}

// countRead counts the transcript data. It reports false when the data is damaged, or its
// stamp is of no use.
func countRead(e *index.Entry, data []byte, at sessiondir.Stamp) (sound bool) {
	if at == (sessiondir.Stamp{}) || at.Size != int64(len(data)) {
		return false
	}
	lines := newIndexReader(false)
	facts, err := index.Count(data, lines.parse)
	if err != nil {
		return false
	}
	e.Transcript, e.Facts, e.Prompt = index.Seen{Stamp: at, Sure: true}, facts, lines.prompt
	return true
}

// countLarge is count for a transcript with a rows file.
func (z *summarizer) countLarge(ctx context.Context, e *index.Entry) (sound bool, err error) {
	dir, err := z.st.openDir(e.ID)
	if err != nil {
		return false, err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	t, err := z.st.openIndexed(ctx, dir, e.ID)
	if err != nil {
		return false, ctx.Err()
	}
	text, err := t.firstPrompt()
	if err != nil && z.st.reindex(ctx, e.ID, t) == nil {
		text, err = t.firstPrompt()
	}
	e.Transcript, e.Facts, e.Prompt = t.rows.Seen, t.rows.Facts, text
	return joinErrors(err, t.file.Close()) == nil, ctx.Err()
}

// promptIn returns the text of the first prompt in a line that has one.
func promptIn(line []byte) (text string) {
	var rows lineReader
	_ = rows.parse(jsonl.Line{Bytes: line}, func(found message) { // it was parsed before
		m := Message{&found}
		if text == "" && m.isPrompt() {
			text = promptText(m)
		}
	})
	return text
}

// firstPrompt returns the text of the first prompt. It reads the prompt's line unless the
// last pass over the transcript found it.
func (t *openTranscript) firstPrompt() (string, error) {
	at := t.rows.Facts.Prompt
	if at.Size == 0 || t.prompt != "" {
		return t.prompt, nil
	}
	line, err := at.Text(t.file)
	return promptIn(line), err
}

// about fills in the facts from the metadata, and reports whether it was read.
func (z *summarizer) about(e *index.Entry) (renewed, torn bool, err error) {
	st := z.st
	if e.HasMetadata {
		is, regular, err := z.stat(e.ID, sessiondir.Metadata)
		if err == nil && regular && e.Metadata.Fits(is) {
			return false, false, nil
		}
	}
	if _, ok := z.readAbout(e); ok {
		return true, false, nil
	}
	dir, err := st.openDir(e.ID)
	if err != nil {
		return false, false, err
	}
	s := st.cache.call(e.ID)
	defer st.cache.end(s)
	m := st.metadataOf(s, dir, e.ID)
	if err := dir.Close(); err != nil {
		return false, false, err
	}
	if noBackup(m.unread) {
		return false, false, m.unread
	}
	e.HasMetadata, e.Metadata, e.About = false, index.Seen{}, aboutOf(e.ID, m.md)
	return false, m.main.bad != nil, barred(m.unread, &m.main, &m.backup)
}

// readAbout reads the metadata in the fast way, if there is one.
func (z *summarizer) readAbout(e *index.Entry) (md Metadata, ok bool) {
	data, at, ok := z.st.base.ReadStamped(e.ID, sessiondir.Metadata)
	if !ok || at == (sessiondir.Stamp{}) {
		return Metadata{}, false
	}
	md, err := metadataIn(data)
	if err != nil {
		return Metadata{}, false
	}
	e.HasMetadata, e.Metadata, e.About = true, index.Seen{Stamp: at, Sure: true}, aboutOf(e.ID, md)
	return md, true
}

// countWhole counts the messages that Load would return.
func (z *summarizer) countWhole(ctx context.Context, e *index.Entry) (damaged bool, err error) {
	st := z.st
	dir, err := st.openDir(e.ID)
	if err != nil {
		return false, err
	}
	s := st.cache.call(e.ID)
	defer st.cache.end(s)
	t := st.transcriptOf(ctx, s, dir, e.ID, readMetadata(dir, e.ID, st.opts.Now).md)
	if err := joinErrors(dir.Close(), ctx.Err()); err != nil {
		return false, err
	}
	if err := barred(t.unread, &t.main, &t.backup); err != nil {
		return false, err
	}
	*e = index.Entry{ID: e.ID, HasMetadata: e.HasMetadata, Metadata: e.Metadata, About: e.About}
	e.Facts, e.Prompt = factsOf(t.rows)
	e.Facts.Size, e.Transcript.Stamp = t.revision().Bytes, t.main.stamp // which is not sure
	return t.damage != nil || t.main.bad != nil, nil
}

// factsOf returns the facts about messages in memory, and the text of the first prompt.
func factsOf(rows []Message) (index.Facts, string) {
	prompt := ""
	return index.CountRows(func(yield func(index.Row) bool) {
		for _, m := range rows {
			row := m.indexRow()
			row.Text = func() bool { return false }
			if row.Prompt && prompt == "" {
				prompt = promptText(m)
			}
			if !yield(row) {
				return
			}
		}
	}), prompt
}
