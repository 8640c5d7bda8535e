package private

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Rule is the verdict of the rules of the directory when the session was judged last. It
// outlives the session's parent.
type Rule string

// The rules.
const (
	NotJudged Rule = ""
	Kept      Rule = "kept"      // it stays on this machine by a rule on itself
	Inherited Rule = "inherited" // it stays because its parent does
	Leaves    Rule = "leaves"
)

// memory is what the directory remembers of a session that stayed once or that has parents,
// whoever its owner is and whatever its project: metadata may be lost, and parents removed.
// Each session has a file of its own, so that processes do not undo what others wrote.
type memory struct {
	V       int      `json:"v"`
	Session string   `json:"session_id"`
	Rule    Rule     `json:"rule,omitempty"`
	Name    string   `json:"name,omitempty"`    // that a glob kept; "" where the verdict is of a program that did not remember it
	Created string   `json:"created,omitempty"` // of the session that had Name, by its metadata: another may get its id
	Parents []string `json:"parents,omitempty"`
}

// after returns the memory after a verdict. name is the name that a glob keeps, "" for none, of
// the session that was created then.
func (m memory) after(v Verdict, name, created string) memory {
	m.Parents = union(m.Parents, v.Above)
	switch {
	case name != "":
		m.Rule, m.Name, m.Created = Kept, name, created
	case v.Inherited:
		m.Rule, m.Name, m.Created = Inherited, "", ""
	case v.Kept, v.Held != nil, v.Since != "", len(v.Unknown) > 0:
	case v.Child, m.Rule != NotJudged:
		m.Rule, m.Name, m.Created = Leaves, "", ""
	}
	return m
}

// HowToRelease says how a person ends that a session is held back.
const HowToRelease = "release it (Store.Release; sessions remote keep-local --release)"

const memoryPrefix = "verdict-"

func memoryFile(id string) string {
	sum := sha256.Sum256([]byte(id))
	return memoryPrefix + hex.EncodeToString(sum[:16]) + ".json"
}

// remembered returns what is remembered of a session.
func (b *Book) remembered(id string) (memory, error) {
	if err := b.takeOver(); err != nil {
		return memory{}, err
	}
	return b.readMemory(id)
}

func (b *Book) readMemory(id string) (m memory, err error) {
	name := memoryFile(id)
	text, err := b.files.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return memory{V: version, Session: id}, nil
	case err != nil:
		return m, err
	case json.Unmarshal(text, &m) != nil || m.V != version || m.Session != id:
		return m, fmt.Errorf("read %s: not of this version", name)
	}
	return m, nil
}

// remember stores, durably, what is to be remembered of a session, if it is something new.
func (b *Book) remember(m memory) error {
	was, err := b.readMemory(m.Session)
	if err != nil {
		return err
	}
	if was.Rule == m.Rule && was.Name == m.Name && was.Created == m.Created && slices.Equal(was.Parents, m.Parents) {
		return nil
	}
	return b.writeMemory(m)
}

func (b *Book) writeMemory(m memory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return b.files.Write(memoryFile(m.Session), text)
}

// Leaves remembers that a session leaves: all its ancestors are known in the remote.
func (b *Book) Leaves(id string) error {
	m, err := b.remembered(id)
	if err != nil {
		return err
	}
	m.Rule, m.Name, m.Created = Leaves, "", ""
	return b.remember(m)
}

// Release lets a session leave, durably, whatever became of its name and its parents.
func (b *Book) Release(id string) error {
	if err := b.SetLocalOnly(id, false); err != nil {
		return err
	}
	m, err := b.remembered(id)
	if err != nil || m.Rule != NotJudged { // what cannot be read is replaced
		err = b.writeMemory(memory{V: version, Session: id, Rule: Leaves, Parents: m.Parents})
	}
	return err
}

// takenFile says that what earlier programs remembered in the states of sessions, by owner
// and project, was taken over.
const takenFile = "verdicts.json"

// takeOver takes over, once for a directory, what earlier programs remembered.
func (b *Book) takeOver() error {
	b.taking.Lock()
	defer b.taking.Unlock()
	if b.taken {
		return nil
	}
	found, err := b.files.Stat(takenFile)
	if err == nil && found[0] == nil {
		err = b.takeStates()
	}
	if err != nil {
		return fmt.Errorf("take over what was remembered: %w", err)
	}
	b.taken = true
	return nil
}

func (b *Book) takeStates() error {
	names, err := b.files.Names()
	if err != nil {
		return err
	}
	all := map[string]memory{}
	for _, name := range names {
		var st struct {
			Session string   `json:"session_id"`
			Rule    Rule     `json:"rule"`
			Above   []string `json:"above"`
		}
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, memoryPrefix) || slices.Contains(rulesFiles[:], name) {
			continue
		}
		text, err := b.files.Read(name)
		if err != nil || json.Unmarshal(text, &st) != nil || st.Session == "" { // as a sync does with such a state
			continue
		}
		m := all[st.Session]
		if st.Rule == Kept || m.Rule == NotJudged || m.Rule == Leaves && st.Rule == Inherited {
			m.Rule = st.Rule
		}
		m.Parents = union(m.Parents, st.Above)
		all[st.Session] = m
	}
	for id, m := range all {
		was, err := b.readMemory(id)
		if err != nil || was.Rule != NotJudged || len(was.Parents) > 0 || m.Rule != Kept && m.Rule != Inherited && len(m.Parents) == 0 {
			continue
		}
		m.V, m.Session = version, id
		if err := b.writeMemory(m); err != nil {
			return err
		}
	}
	return b.files.Write(takenFile, []byte(`{"v":1}`))
}
