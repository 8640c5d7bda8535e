package cosmos

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestShape tells the form of documents, which other versions and other programs read.
func TestShape(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body []byte
		want string
	}{
		"nothing": {nil, `{"id":"n","pk":"p","label":{"a":"<x>"}}`},
		"text":    {[]byte("caf\u00e9 <x>\n"), `{"id":"n","pk":"p","label":{"a":"<x>"},"text":"caf` + "\u00e9" + ` <x>\n"}`},
		"bytes":   {[]byte{0xff, 0}, `{"id":"n","pk":"p","label":{"a":"<x>"},"data":"/wA="}`},
		"a zero":  {[]byte{0}, `{"id":"n","pk":"p","label":{"a":"<x>"},"data":"AA=="}`},
	} {
		o := remote.Object{Name: "n", Label: []byte(`{"a":"<x>"}`), Body: tt.body}
		doc, err := encode("p", &o)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(doc), name)
		back := decode(doc, "n", "v")
		require.Equal(t, remote.Object{Name: "n", Label: o.Label, Body: tt.body, Version: "v", Time: time.Unix(0, 0).UTC()}, back, name)
	}
}

// TestDocumentsAreAsLarge: a document is hardly larger than its object is taken to be, whatever
// must be escaped.
func TestDocumentsAreAsLarge(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"x", "\x01", `"`, "\\", "\u2028", "\u00e9", "\x00", "\xff", "\n", "xxxx\n", "\U0001F600"} {
		o := remote.Object{Name: "n", Label: []byte(`{}`), Body: bytes.Repeat([]byte(one), 100_000)}
		doc, err := encode("p", &o)
		require.NoError(t, err)
		require.LessOrEqual(t, len(doc), o.Size()+members+2, "%q", one)
		require.True(t, bytes.Equal(o.Body, decode(doc, "n", "").Body), "%q", one)
		require.True(t, json.Valid(doc))
	}
}

// TestDocumentsOfOthers: documents of other tools have no label, and those of a former format
// have one that tells that.
func TestDocumentsOfOthers(t *testing.T) {
	t.Parallel()
	c := connect(t, cosmostest.New(nil))
	for id, doc := range map[string]string{
		"a": `{"id":"a","pk":"p"}`,
		"b": `{"id":"b","pk":"p","v":"x","type":[1]}`,
		"c": `{"id":"c","pk":"p","text":5,"data":"!"}`,
		"d": `{"id":"d","pk":"p","type":"seg","v":2,"data":"AAAA"}`,
		"e": `{"id":"e","pk":"p","type":"note","label":"x"}`,
	} {
		require.NoError(t, c.batch(t.Context(), "p", op{kind: upsert, id: id, body: []byte(doc)}).Err)
	}
	for id, label := range map[string]string{"a": "", "b": "", "c": "", "d": `{"type":"seg","v":2}`, "e": `"x"`} {
		o, err := c.Get(t.Context(), "p", id, "")
		require.NoError(t, err)
		require.Equal(t, [2]string{id, label}, [2]string{o.Name, string(o.Label)})
		_, err = c.Get(t.Context(), "p", id, o.Version)
		require.ErrorIs(t, err, remote.ErrUnchanged)
	}
	for o, err := range c.List(t.Context(), "p", remote.Query{}) {
		require.NoError(t, err)
		require.NotEmpty(t, o.Name)
		require.NotEmpty(t, o.Version)
	}
	require.Subset(t, namesOf(t, c, "p"), []string{"a", "d", "e"})
}
