package hybrid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// place is a file of a session on a device.
type place struct {
	by            *gadget
	session, file string
}

var (
	simOwned  = regexp.MustCompile(`(?:rec|own)-[0-9]+;`)
	simSecret = regexp.MustCompile(`^ ghp_[A-Za-z0-9]{36}`)
)

// secrets returns the marks of the records in a text that have a secret, or what
// stands in its place, and whether it is the latter. A record is a string; some have
// megabytes, so they are searched for words.
func secrets(text []byte) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for _, part := range bytes.FieldsFunc(text, func(r rune) bool { return r == '"' || r == '\n' }) {
			at := simOwned.FindIndex(part)
			if at == nil {
				continue
			}
			rest := part[at[1]:]
			image, kept := bytes.LastIndex(rest, []byte(" [redacted:")), lastSecret(rest)
			if max(image, kept) >= 0 && !yield(string(part[at[0]:at[1]]), image > kept) {
				return
			}
		}
	}
}

// lastSecret returns where the last secret of a text begins, -1 without one.
func lastSecret(text []byte) int {
	for at := len(text); ; {
		if at = bytes.LastIndex(text[:at], []byte(" ghp_")); at < 0 || simSecret.Match(text[at:]) {
			return at
		}
	}
}

// secret returns what makes a record one that the rules change, if there are any.
func (w *world) secret() string {
	if w.rules == nil {
		return ""
	}
	return " ghp_" + w.letters(36)
}

// remarked returns text with a mark and a secret. It is no record: what other devices
// write may take its place.
func (w *world) remarked() string {
	return strings.Replace(w.reader.mark(), "rec", "own", 1) + w.secret()
}

// owns takes note of the records with secrets in what a device wrote.
func (w *world) owns(d *gadget, id, file string, text []byte) {
	for mark := range secrets(text) {
		w.owned[mark] = place{d, id, file}
	}
}

// images returns the records that stand in a device's own files in the form in which
// they left it. A record that was taken from the file is nobody's any more: what
// comes again comes as it was sent.
func (w *world) images(d *gadget) (found []string) {
	texts := map[place]map[string]bool{} // marks, and whether what stands there is an image
	for _, mark := range slices.Sorted(maps.Keys(w.owned)) {
		at := w.owned[mark]
		if at.by != d {
			continue
		}
		if texts[at] == nil {
			texts[at] = w.marksAt(at)
		}
		image, here := texts[at][mark]
		if image {
			found = append(found, fmt.Sprintf("%s: %s of %s holds an image of %s", d.name, at.file, at.session, mark))
		}
		if !here {
			delete(w.owned, mark)
		}
	}
	return found
}

// scanned is a text in which [secrets] found marks.
type scanned struct {
	text  string
	marks map[string]bool
}

// marksAt returns the marks in a file, and whether an image is there. It searches a text once.
func (w *world) marksAt(at place) map[string]bool {
	text := w.file(at.by, at.session, at.file)
	last, known := w.scanned[at]
	if !known || last.text != text {
		last = scanned{text, maps.Collect(secrets([]byte(text)))}
		w.scanned[at] = last
	}
	return last.marks
}

// checkOwn requires that no file of a device holds an image of what it wrote itself.
func (w *world) checkOwn(step string) {
	for _, d := range w.devices {
		require.Empty(w.t, w.images(d), "after %q", step)
	}
}

// configure changes one line of the session's configuration: the device's own, or the
// one that all devices change.
func (w *world) configure(d *gadget, id string) {
	if id == "" {
		return
	}
	if w.rand.IntN(2) == 0 {
		w.setLine(d, id, d.name+": ", w.remarked())
		return
	}
	w.setLine(d, id, "count: ", fmt.Sprint(w.rand.IntN(1000)))
}

func (w *world) setLine(d *gadget, id, head, line string) {
	lines := strings.Split(w.file(d, id, sessiondir.Config), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, head) })
	lines = slices.Insert(lines, w.rand.IntN(len(lines)+1), head+line)
	path := filepath.Join(d.dir, id, sessiondir.Config)
	text := []byte(strings.Join(lines, "\n") + "\n")
	err := errors.Join(os.WriteFile(path+".tmp", text, 0o600), os.Rename(path+".tmp", path))
	require.NoError(w.t, err)
	d.life.setTime(path)
	d.life.setTime(filepath.Dir(path))
	w.owns(d, id, sessiondir.Config, []byte(head+line))
}

// remark changes a member of metadata that has members itself: one that holds what rules
// find, or another beside it.
func (w *world) remark(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	name := "by " + w.pick().name
	text := fmt.Appendf(nil, `{"note": "%s", "n": 0}`, w.remarked())
	_, err := d.UpdateMetadata(w.ctx(), id, func(md *sessionstore.Metadata) error {
		if was, ok := md.Lookup(name); ok && w.rand.IntN(3) > 0 {
			text = pyjson.Splice(was, "n", fmt.Append(nil, w.rand.IntN(1000)))
		}
		return md.Set(name, json.RawMessage(text))
	})
	if w.expected(d, err); err == nil && !bytes.Contains(text, []byte("[redacted:")) {
		w.owns(d, id, sessiondir.Metadata, text)
	}
}

// ownInCalm lets a device write what rules change, and another one what stands around
// it in the same files.
func (w *world) ownInCalm() {
	a := w.pick()
	ids := w.shared(a)
	if w.rules == nil || len(ids) == 0 {
		return
	}
	id := ids[w.rand.IntN(len(ids))]
	b := w.hears(a, id)
	if b == nil {
		return
	}
	w.setLine(a, id, a.name+": ", w.remarked())
	text := fmt.Sprintf(`{"note": "%s", "n": 0}`, w.remarked())
	w.setMember(a, id, text)
	w.owns(a, id, sessiondir.Metadata, []byte(text))
	w.settle()
	count := fmt.Sprint(w.rand.IntN(1000))
	w.setLine(b, id, "count: ", count)
	md, err := b.Metadata(w.ctx(), id)
	require.NoError(w.t, err)
	was, _ := md.Lookup("calm")
	w.setMember(b, id, string(pyjson.Splice(was, "n", []byte(count))))
	w.settle()
	w.checkOwn("a change of another device")
	require.Contains(w.t, w.file(a, id, sessiondir.Config), "count: "+count)
	require.Contains(w.t, w.file(a, id, sessiondir.Metadata), `"n": `+count)
}

func (w *world) setMember(d *gadget, id, text string) {
	_, err := d.UpdateMetadata(w.ctx(), id, func(md *sessionstore.Metadata) error { return md.Set("calm", json.RawMessage(text)) })
	require.NoError(w.t, err)
}

// TestSimulationFindsImages puts an image in the place of what a device wrote: the
// simulation finds it in every kind of file.
func TestSimulationFindsImages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(simStart))
		w := newWorld(t, 1, "cosmos", simAll(), &simTally{})
		w.rules = Secrets()
		d := w.add("d0")
		defer func() { requireClosed(t, d.Store) }()
		w.begin(d, "s0")
		for len(w.owned) == 0 {
			w.append(d, "s0")
		}
		for range 20 {
			w.configure(d, "s0")
			w.remark(d, "s0")
		}
		require.Empty(t, w.images(d))
		for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata, sessiondir.Config} {
			text := w.file(d, "s0", name)
			image := redacted(w.rules, []byte(text))
			require.NotEqual(t, text, string(image), name)
			path := filepath.Join(d.dir, "s0", name)
			require.NoError(t, os.WriteFile(path, image, 0o600))
			require.NotEmpty(t, w.images(d), name)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			require.Empty(t, w.images(d))
		}
	})
}
