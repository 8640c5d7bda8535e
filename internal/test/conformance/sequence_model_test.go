package conformance

import (
	"maps"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// predict does the steps in memory.
func (c sequenceCase) predict(t *testing.T, f *fired) (o sequenceOutcome) {
	t.Helper()
	h := &history{f: f, files: maps.Clone(c.Before)}
	for _, s := range c.Steps {
		done := stepped{Failed: h.step(t, s)}
		done.Old = newModel(nil, "s", h.files).loaded()
		done.New = readNewer(h.files)
		o.Steps = append(o.Steps, done)
	}
	o.Files = h.files
	return o
}

func (h *history) step(t *testing.T, s step) (failed string) {
	t.Helper()
	switch s.Writer {
	case "new": // the command line redacts and sanitises before it saves
		safe := render(s.Metadata, pyjson.Style{Redact: true})
		return h.save(saving{s.Messages, safe, saveOptions{Merge: true, Sanitizer: true}})
	case "inc":
		return h.save(saving{s.Messages, s.Metadata, saveOptions{Incremental: true, Merge: true}})
	case "old":
		m := newModel(nil, "s", h.files)
		failed := m.save(s.Messages, s.Metadata)
		h.files, h.meant = m.files, false
		return failed
	case "rename":
		return h.rename(s.Name)
	case "update":
		fields := render(s.Metadata, pyjson.Style{Redact: true})
		o := patchCase{Before: h.files, Exists: true, Fields: fields}.predict(h.f)
		h.files = o.Files
		return o.Failed
	case "mark":
		h.files[sessiondir.Marker] = markerText
	case "tear":
		h.files[transcriptFile] += s.torn(t)
	}
	return succeeded
}

// rename is what a user does, who decides.
func (h *history) rename(name string) (failed string) {
	c := nameCase{Name: text(name), Current: "null"}
	c.Args.Source, c.Args.Description = "manual", "null"
	if data, ok := h.files[metadataFile]; ok {
		c.Current = data
	}
	o := c.predict(h.f)
	maps.Copy(h.files, o.Files)
	return o.Failed
}
