package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// updateCase updates the metadata of a session.
type updateCase struct {
	Files    files
	Updates  string `json:"updates_json"`
	Returned string `json:"returned_json"`
	Error    *failure
	Expected files `json:"expected_files"`
}

type updated struct {
	Returned string
	Failed   string
	Files    files
}

func (c updateCase) run(t *testing.T) verdict {
	reference := updated{Returned: c.Returned, Failed: c.Error.outcome(), Files: c.Expected}
	p := newPlace(t)
	p.put(t, "sess", c.Files)
	var ours updated
	ours.Returned, ours.Failed = update(t, p.open(t), "sess", c.Updates)
	ours.Files = p.get(t, "sess")
	return judge(reference, ours, func(f *fired) updated {
		m := newModel(f, "sess", c.Files)
		md, failed := m.update(c.Updates)
		u := updated{Failed: failed, Files: m.files}
		if failed == succeeded {
			u.Returned = render(md, pyjson.Style{ASCII: true})
		}
		return u
	})
}

// update sets the members of updates, JSON, and returns the metadata or what
// became of it.
func update(t *testing.T, st *sessionstore.Store, id, updates string) (returned, failed string) {
	t.Helper()
	set, err := sessionstore.NewMetadata(json.RawMessage(updates))
	if err != nil {
		return "", outcome(err)
	}
	md, err := st.UpdateMetadata(t.Context(), id, func(md *sessionstore.Metadata) error {
		for name := range set.Keys() {
			value, _ := set.Lookup(name)
			if err := md.Set(name, json.RawMessage(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", outcome(err)
	}
	return metadataText(t, md), succeeded
}

// bundleCase asks metadata for the bundle.
type bundleCase struct {
	Metadata string `json:"metadata_json"`
	Bundle   string `json:"bundle_json"`
	Error    *failure
}

func (c bundleCase) run(t *testing.T) verdict {
	reference := c.Bundle
	if c.Error != nil {
		reference = c.Error.outcome()
	}
	return judge(reference, c.ours(t), func(f *fired) string {
		bundle := parseObject(c.Metadata).get("bundle")
		switch {
		case kindOf(c.Metadata) != pyjson.Object:
			return refused
		case !truthy(bundle) || kindOf(bundle) != pyjson.String && f.by(bundleNotText):
			return "null"
		case kindOf(bundle) != pyjson.String:
			return refused
		case hasLone(bundle) && f.by(surrogateInText):
			bundle = paired(bundle)
		}
		return strings.Replace(render(bundle, pyjson.Style{ASCII: true}), `"bundle:`, `"`, 1)
	})
}

func (c bundleCase) ours(t *testing.T) string {
	t.Helper()
	md, err := sessionstore.ParseMetadata([]byte(c.Metadata))
	if err != nil {
		return refused
	}
	name, ok := md.Bundle()
	if !ok {
		return "null"
	}
	return ascii(t, []byte(text(name)))
}

// redactCase is metadata with secrets. The store redacts what it writes; for
// values that are no metadata there is only the function that it uses.
type redactCase struct {
	Input    string `json:"input_json"`
	Expected string `json:"expected_json"`
}

func (c redactCase) run(t *testing.T) verdict {
	raw, err := pyjson.Append(nil, []byte(c.Input), pyjson.Style{Redact: true})
	require.NoError(t, err)
	if kindOf(c.Input) == pyjson.Object {
		raw = []byte(c.stored(t))
	}
	return equal(c.Expected, ascii(t, raw))
}

// stored returns the metadata after it was saved.
func (c redactCase) stored(t *testing.T) string {
	t.Helper()
	p := newPlace(t)
	p.put(t, "s", files{metadataFile: "{}"})
	md, err := sessionstore.ParseMetadata([]byte(c.Input))
	require.NoError(t, err)
	require.NoError(t, p.open(t).Save(t.Context(), "s", nil, md))
	return p.get(t, "s")[metadataFile]
}
