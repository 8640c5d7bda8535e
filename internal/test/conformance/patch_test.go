package conformance

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type mergeCase struct {
	Current  string `json:"current_json"`
	Incoming string `json:"incoming_json"`
	Expected string `json:"expected_json"`
}

func (c mergeCase) run(t *testing.T) verdict {
	p := newPlace(t)
	p.put(t, "sess", files{transcriptFile: "", metadataFile: c.Current})
	md, err := sessionstore.NewMetadata(json.RawMessage(c.Incoming))
	require.NoError(t, err)
	require.NoError(t, p.open(t).Save(t.Context(), "sess", nil, md))
	ours := ascii(t, []byte(p.get(t, "sess")[metadataFile]))
	return judge(c.Expected, ours, c.predict)
}

// predict is the newer tools' merge of what a host saves with what is on disk.
func (c mergeCase) predict(f *fired) string {
	disk := parseObject(c.Current)
	merged := disk.update(parseObject(c.Incoming))
	for _, name := range diskWins() {
		i := disk.index(name)
		if i < 0 || disk[i].value == merged.get(name) {
			continue
		}
		if name == "status" || name == "manifest_name" {
			if !f.by(statusProtected) {
				continue
			}
		}
		merged = merged.with(name, disk[i].value)
	}
	return redacted(f, merged.String(), pyjson.Style{ASCII: true})
}

// redacted renders a value, without the values of secret keys if the rule is
// in force.
func redacted(f *fired, raw string, s pyjson.Style) string {
	plain := render(raw, s)
	s.Redact = true
	if safe := render(raw, s); safe != plain && f.by(secretsRedacted) {
		return safe
	}
	return plain
}

type patchCase struct {
	Before   files `json:"files"`
	Exists   bool  `json:"session_dir_exists"`
	Create   bool
	Fields   string `json:"fields_json"`
	Returned string `json:"returned_json"`
	Error    *failure
	Files    files `json:"expected_files"`
	Locked   bool  `json:"lock_file_exists"`
}

type patchOutcome struct {
	Returned, Failed string
	Files            files
	Locked           bool // the file that locks the metadata is there
}

func (c patchCase) run(t *testing.T) verdict {
	reference := patchOutcome{c.Returned, c.Error.newerOutcome(), c.Files, c.Locked}
	return judge(reference, c.ours(t), c.predict)
}

func (c patchCase) ours(t *testing.T) patchOutcome {
	t.Helper()
	p := newPlace(t)
	if c.Exists {
		p.put(t, "sess", c.Before)
	}
	md, err := p.open(t).UpdateMetadata(t.Context(), "sess", func(md *sessionstore.Metadata) error {
		for m := range pyjson.Members([]byte(c.Fields)) {
			if err := md.Set(textOf(string(m.Key)), json.RawMessage(m.Value)); err != nil {
				return err
			}
		}
		return nil
	})
	o := patchOutcome{Failed: outcome(err), Files: p.get(t, "sess")}
	if err == nil {
		o.Returned = metadataText(t, md)
	}
	_, err = os.Stat(filepath.Join(p.dir, ".sess.metadata.lock"))
	o.Locked = err == nil
	return o
}

// predict is the newer tools' update, step by step.
func (c patchCase) predict(f *fired) patchOutcome {
	if !c.Exists {
		if !c.Create || f.by(updateNeedsSession) {
			return c.missing(f)
		}
		return c.patched(f, nil, "{}")
	}
	o := patchOutcome{Files: maps.Clone(c.Before), Locked: true}
	disk, failed := newerMetadata(c.Before)
	if f != nil {
		own, ownFailed := ownMetadata(c.Before)
		if (own != disk || ownFailed != failed) && f.by(tolerantUpdate) {
			disk, failed = own, ownFailed
		}
	}
	if failed != succeeded {
		if !f.by(placeholderUpdated) {
			o.Failed = failed
			return o
		}
		disk = object{{"session_id", `"sess"`}, {"recovered", "true"}, {"recovery_time", text(anyTime)}}.String()
	}
	return c.patched(f, o.Files, disk)
}

// TestPatchOfNoSession is not among the shipped vectors: the newer tools leave
// the lock file of a session that is not there.
func TestPatchOfNoSession(t *testing.T) {
	for _, create := range []bool{false, true} {
		c := patchCase{Create: create, Fields: `{"x": 1}`, Locked: true}
		if create {
			c.Files, c.Returned = files{metadataFile: "{\n  \"x\": 1\n}"}, c.Fields
		} else {
			c.Error = &failure{Type: "FileNotFoundError", Message: strings.TrimPrefix(gone, notFound)}
		}
		v := c.run(t)
		require.NoError(t, v.err)
		require.Contains(t, v.rules, noLockLeft)
	}
}

func (c patchCase) missing(f *fired) patchOutcome {
	o := patchOutcome{Failed: gone, Locked: true}
	if f.by(noLockLeft) {
		o.Locked = false
	}
	if f.by(ownNotFoundText) {
		o.Failed = notFound + "Session 'sess' not found"
	}
	return o
}

// patched is the outcome of an update of disk in a directory with before.
func (c patchCase) patched(f *fired, before files, disk string) patchOutcome {
	o := patchOutcome{Files: before, Locked: true}
	fields := c.Fields
	if hasLone(fields) && f.by(surrogatesGiven) {
		fields = paired(fields)
	}
	result := parseObject(disk).update(parseObject(fields)).String()
	if !finite(fields) || !finite(result) && f == nil {
		o.Failed = refused
		return o
	}
	content := redacted(f, result, pyjson.Style{Indent: 2})
	if o.Files == nil {
		o.Files = files{}
	}
	if o.Files[metadataFile] == content && o.Files[metadataBackup] != content && f.by(equalNotRewritten) {
		o.Returned = render(result, pyjson.Style{ASCII: true})
		return o
	}
	o.rotate(f)
	if hasLone(result) && !f.by(surrogatesWritten) {
		o.Failed = ioError
		return o
	}
	o.Files[metadataFile] = content
	o.Returned = render(result, pyjson.Style{ASCII: true})
	return o
}

// rotate makes metadata.json its backup if it is sound. Else the newer tools
// overwrite it, and we keep it aside.
func (o *patchOutcome) rotate(f *fired) {
	dialect := pyjson.Strict
	if f != nil {
		dialect = pyjson.Tolerant
	}
	sound := map[string]bool{}
	for _, name := range []string{metadataFile, metadataBackup} {
		sound[name] = isObject(o.Files[name], dialect)
	}
	if sound[metadataFile] {
		o.Files[metadataBackup] = o.Files[metadataFile]
		return
	}
	for _, name := range []string{metadataFile, metadataBackup} {
		if data, ok := o.Files[name]; ok && !sound[name] && f.by(damagedNotLost) {
			o.Files[name+anyUTC] = data
			delete(o.Files, name)
		}
	}
}
