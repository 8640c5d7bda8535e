package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const rulesFile = "deviations.json"

// A rule is the id of a deliberate difference from the reference. Its meaning
// is in the code that asks [fired.by] for it.
type rule string

const (
	bundleNotText      rule = "bundle-not-text"
	crInsideRow        rule = "cr-inside-row"
	damageKept         rule = "damage-kept"
	damageReported     rule = "damage-reported"
	emptiedKept        rule = "emptied-kept"
	emptiedRecovered   rule = "emptied-recovered"
	longID             rule = "long-id"
	metadataMerge      rule = "metadata-merge"
	metadataObject     rule = "metadata-object"
	metadataUnchanged  rule = "metadata-unchanged"
	missingReported    rule = "missing-reported"
	notFinite          rule = "not-finite"
	ownNames           rule = "own-names"
	recoversFurther    rule = "recovers-further"
	refusedFirst       rule = "refused-first"
	reservedID         rule = "reserved-id"
	roleRequired       rule = "role-required"
	surrogateInText    rule = "surrogate-in-text"
	surrogateKept      rule = "surrogate-kept"
	surrogateReplaced  rule = "surrogate-replaced"
	tooDeep            rule = "too-deep"
	transcriptExtended rule = "transcript-extended"
	transcriptKept     rule = "transcript-unchanged"
	unrepresentableIDs rule = "unrepresentable-id"
	windowRefused      rule = "window-refused"
)

// rulesWithCode are all of the above, and those about the newer tools.
func rulesWithCode() []rule {
	return append(slices.Concat(newerRules(), findRules(), sliceRules(), eventRules(), forkRules(), lineageRules(), storedRules()), []rule{
		bundleNotText, crInsideRow, damageKept, damageReported, emptiedKept, emptiedRecovered, longID,
		metadataMerge, metadataObject, metadataUnchanged, missingReported, notFinite, ownNames, recoversFurther, refusedFirst, reservedID,
		cleanupWholeDays, goneReported, idShortened, resolveCleaned, roleRequired, surrogateInText, surrogateKept, surrogateReplaced, tooDeep, transcriptExtended, transcriptKept,
		unrepresentableIDs, windowRefused,
	}...)
}

// deviation is a rule as deviations.json tells it to people.
type deviation struct {
	ID        rule     `json:"id"`
	Files     []string `json:"files"` // without .json
	Reference string   `json:"reference"`
	Ours      string   `json:"ours"`
	Why       string   `json:"why"`
	Held      bool     `json:"held"` // no shipped case falls under it
}

type ruleSet map[rule]deviation

// readRules reads the rules and requires that each has code and a full text.
func readRules(t *testing.T) ruleSet {
	t.Helper()
	set := ruleSet{}
	for _, dir := range []string{"golden", "golden-new"} {
		data, err := os.ReadFile(filepath.Join(root, "testdata", dir, rulesFile))
		if dir == "golden-new" && errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		var list []deviation
		require.NoError(t, json.Unmarshal(data, &list))
		for _, d := range list {
			require.NotContains(t, set, d.ID, "two rules of one id")
			require.Contains(t, rulesWithCode(), d.ID, "a rule without code")
			require.NotEmpty(t, d.Files, d.ID)
			for _, text := range []string{d.Reference, d.Ours, d.Why} {
				require.NotEmpty(t, text, d.ID)
			}
			set[d.ID] = d
		}
	}
	for _, id := range rulesWithCode() {
		require.Contains(t, set, id, "code without a rule")
	}
	return set
}

// requireRulesUsed requires that the shipped vectors fall under every rule
// that is not marked as held, and under no other.
func requireRulesUsed(t *testing.T, set ruleSet, fallen map[rule]int) {
	t.Helper()
	for id, d := range set {
		if slices.Equal(d.Files, []string{strings.TrimSuffix(commandCalls, ".json")}) && !withTool() {
			continue
		}
		require.Equal(t, d.Held, fallen[id] == 0, "rule %s: %d cases fall under it, held is %t", id, fallen[id], d.Held)
	}
}

// allow returns what is wrong with a verdict on a case of file: also that a
// rule was used that is not about file.
func (set ruleSet) allow(v verdict, file string) error {
	for _, id := range v.rules {
		if v.err == nil && !slices.Contains(set[id].Files, file[:len(file)-len(".json")]) {
			return fmt.Errorf("rule %s is not for %s", id, file)
		}
	}
	return v.err
}

// fired collects the rules that made a difference. Nil has no rule in force:
// it stands for the reference.
type fired struct{ rules []rule }

// by reports whether rule r is in force, and notes that it made a difference.
func (f *fired) by(r rule) bool {
	if f == nil {
		return false
	}
	if !slices.Contains(f.rules, r) {
		f.rules = append(f.rules, r)
	}
	return true
}

// count returns how many rules have made a difference.
func (f *fired) count() int {
	if f == nil {
		return 0
	}
	return len(f.rules)
}

// forget takes back that rules made a difference, where the outcome that is
// compared does not show it.
func (f *fired) forget(rules ...rule) {
	if f != nil {
		f.rules = slices.DeleteFunc(f.rules, func(r rule) bool { return slices.Contains(rules, r) })
	}
}

// verdict is what became of a case.
type verdict struct {
	rules []rule // that it fell under; none: it equals the reference
	err   error  // it is neither
}

var errNotRun = errors.New("not run")

// equal is the verdict of a case that no rule is about.
func equal[O any](reference, ours O) verdict {
	return judge(reference, ours, nil)
}

// judge compares our outcome with the reference's. Where they differ, predict
// tells both of them from the input: without rules it must give what the
// reference did, with rules what we did.
func judge[O any](reference, ours O, predict func(f *fired) O) verdict {
	if reflect.DeepEqual(reference, ours) {
		return verdict{}
	}
	if predict == nil {
		return verdict{err: difference("no rule", reference, ours)}
	}
	if p := predict(nil); !reflect.DeepEqual(reference, p) {
		return verdict{err: fmt.Errorf("%w\npredicted: %s", difference("no rule fits", reference, ours), pretty(p))}
	}
	f := &fired{}
	if want := predict(f); !reflect.DeepEqual(want, ours) {
		return verdict{err: difference(fmt.Sprintf("rules %v", f.rules), want, ours)}
	}
	return verdict{rules: f.rules}
}

func difference(by string, want, got any) error {
	return fmt.Errorf("by %s\nwant: %s\n got: %s", by, pretty(want), pretty(got))
}

func pretty(v any) string {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(text)
}
