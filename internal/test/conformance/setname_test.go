package conformance

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type nameCase struct {
	Current string `json:"current_json"`
	Name    string `json:"name_json"`
	Args    struct {
		Source           string
		Description      string `json:"description_json"`
		ExpectedRevision *int   `json:"expected_revision"`
		OnlyIfMissing    bool   `json:"only_if_missing"`
	}
	Returned string `json:"returned_json"`
	Error    *failure
	Written  bool
	Files    files `json:"expected_files"`
}

type nameOutcome struct {
	Returned, Failed string
	Written          bool
	Files            files
}

// notExpressible stands for a call that Go's types rule out.
const notExpressible = "not expressible"

const (
	badName   = valueError + "Session names must contain 1 to 200 characters"
	badSource = valueError + "Unknown session name source"
	badText   = valueError + "Session description must be a string"
)

func (c nameCase) run(t *testing.T) verdict {
	reference := nameOutcome{c.Returned, c.Error.newerOutcome(), c.Written, c.Files}
	return judge(reference, c.ours(t), c.predict)
}

// before are the files that the session has.
func (c nameCase) before() files {
	if c.Current == "null" {
		return files{}
	}
	return files{metadataFile: c.Current}
}

func (c nameCase) ours(t *testing.T) nameOutcome {
	t.Helper()
	if !c.expressible() {
		return nameOutcome{Failed: notExpressible, Files: c.before()}
	}
	p := newPlace(t)
	p.put(t, "sess", c.before())
	n := sessionstore.Naming{
		Name: textOf(c.Name), Source: c.Args.Source, Description: textOf(c.Args.Description),
		ExpectedRevision: c.Args.ExpectedRevision, OnlyIfMissing: c.Args.OnlyIfMissing,
	}
	md, wrote, err := p.open(t).SetName(t.Context(), "sess", n)
	o := nameOutcome{Failed: outcome(err), Written: wrote, Files: p.get(t, "sess")}
	if err == nil {
		o.Returned = metadataText(t, md)
	} else if o.Failed == refused {
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
		o.Failed = valueError + err.Error()
	}
	return o
}

func (c nameCase) expressible() bool {
	d := kindOf(c.Args.Description)
	return kindOf(c.Name) == pyjson.String && (d == pyjson.String || d == pyjson.Null)
}

// textOf is the text of a JSON string, with lone surrogates as three bytes.
func textOf(raw string) string {
	if kindOf(raw) != pyjson.String {
		return ""
	}
	return string(pyjson.AppendText(nil, []byte(raw)))
}

// predict is the newer tools' set_name, step by step.
func (c nameCase) predict(f *fired) nameOutcome {
	o := nameOutcome{Files: c.before()}
	if !c.expressible() && f.by(nameNotText) {
		o.Failed = notExpressible
		return o
	}
	if (hasLone(c.Name) || hasLone(c.Args.Description)) && f.by(surrogatesGiven) {
		c.Name, c.Args.Description = paired(c.Name), paired(c.Args.Description)
	}
	name := strings.TrimFunc(textOf(c.Name), pythonSpace)
	switch {
	case kindOf(c.Name) != pyjson.String || name == "" || codePoints(name) > 200:
		o.Failed = badName
	case c.Args.Source != "manual" && c.Args.Source != "generated" && c.Args.Source != "fallback":
		o.Failed = badSource
	case !c.expressible():
		o.Failed = badText
	}
	if o.Failed != succeeded {
		return o
	}
	current := object{}
	if c.Current != "null" {
		current = parseObject(c.Current)
	}
	named := c.described(f, c.named(current, name), current)
	if len(named) != len(current) || named.String() != current.String() {
		return o.write(f, named)
	}
	o.Returned = render(named.String(), pyjson.Style{ASCII: true})
	return o
}

// write is the outcome when the metadata becomes named.
func (o nameOutcome) write(f *fired, named object) nameOutcome {
	raw := named.String()
	if old, ok := o.Files[metadataFile]; ok {
		o.Files[metadataBackup] = old
	}
	if hasLone(raw) && !f.by(surrogatesWritten) {
		o.Failed = ioError
		return o
	}
	o.Returned, o.Written = render(raw, pyjson.Style{ASCII: true}), true
	o.Files[metadataFile] = render(raw, pyjson.Style{Indent: 2})
	return o
}

// named returns current with the name, if that is taken.
func (c nameCase) named(current object, name string) object {
	has := truthy(current.get("name"))
	from := render(current.get("name_source"), pyjson.Style{})
	allowed := !has || !c.Args.OnlyIfMissing
	switch c.Args.Source {
	case "fallback":
		allowed = allowed && (!has || from == `"fallback"`)
	case "generated":
		allowed = allowed && (!has || from == `"fallback"` || from == `"generated"`) && c.expected(current)
	}
	same := render(current.get("name"), pyjson.Style{}) == text(name) && from == text(c.Args.Source)
	if !allowed || same {
		return current
	}
	result := current.with("name", text(name)).with("name_source", text(c.Args.Source))
	result = result.with("name_revision", strconv.Itoa(revisionOf(current)+1)).with("name_updated_at", text(anyTime))
	if c.Args.Source == "generated" {
		result = result.with("name_generated_at", text(anyTime))
	}
	return result
}

// described returns result with the description, if that is taken.
func (c nameCase) described(f *fired, result, current object) object {
	if kindOf(c.Args.Description) != pyjson.String || !c.expected(current) {
		return result
	}
	d := text(textOf(c.Args.Description))
	kept := c.Args.OnlyIfMissing && truthy(current.get("description"))
	if kept || d == render(current.get("description"), pyjson.Style{}) || d == `""` && f.by(emptyDescription) {
		return result
	}
	return result.with("description", d).with("description_updated_at", text(anyTime))
}

func (c nameCase) expected(current object) bool {
	return c.Args.ExpectedRevision == nil || *c.Args.ExpectedRevision == revisionOf(current)
}

func revisionOf(current object) int {
	n, err := strconv.Atoi(current.get("name_revision"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// codePoints counts as Python does, a lone surrogate as one.
func codePoints(s string) int {
	return utf8.RuneCountInString(textOf(paired(text(s))))
}

// pythonSpace reports whether str.strip takes r off.
func pythonSpace(r rune) bool { return len(pyjson.TrimSpace([]byte(string(r)))) == 0 }
