package private

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
)

// parentMembers are the members of metadata by which tools name the parent of a session.
// A fork of some tools names it in an object, see forkMember.
var parentMembers = []string{"parent_id", "parent_session_id"}

const (
	sessionID  = "session_id"  // of a copied directory it names the original
	conflictOf = "conflict_of" // of a conflict copy, beside parent_id
	forkMember = "fork"
	forkSource = "source_session_id"
)

// parentsIn returns the ids of the parents of a session with the metadata md. It is an
// error when the name of one is no text.
func parentsIn(md metadata) (parents []string, err error) {
	add := func(name string, raw []byte) {
		switch {
		case raw == nil || pyjson.KindOf(raw) == pyjson.Null:
		case pyjson.KindOf(raw) != pyjson.String:
			err = fmt.Errorf("its %s is no text", name)
		default:
			if id := pyjson.Text(raw); id != "" && !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
	}
	for _, name := range parentMembers {
		raw, _ := md.lookup(name)
		add(name, raw)
	}
	if fork, ok := md.lookup(forkMember); ok && pyjson.KindOf(fork) == pyjson.Object {
		raw, _ := pyjson.Lookup(fork, forkSource)
		add(forkSource, raw)
	}
	return parents, err
}

// parentsOf returns the ids of the parents of the session in dir: the known ones, those
// in its metadata, or in their backup if those name none, and those in the files beside its
// log of events, which go to no other device. It is an error when some of that cannot be read.
func parentsOf(dir string, is described, known []string) (parents []string, err error) {
	named, err := parentsIn(is.md)
	if err == nil && len(named) == 0 && is.older != nil {
		named, _ = parentsIn(is.older) // what it lacks, the metadata said before
	}
	parents = union(known, named)
	if err != nil {
		return parents, err
	}
	for _, path := range sessioncost.DescriptionsHere(dir) {
		md, err := describedIn(path)
		var named []string
		if err == nil {
			named, err = parentsIn(md)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return parents, fmt.Errorf("its parent cannot be read: %q: %w; "+HowToRelease, path, err)
		}
		parents = union(parents, named)
	}
	return parents, nil
}

// describedIn reads the description of a session from a file beside its log of events.
func describedIn(path string) (md metadata, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return md, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f, _, err := vfs.Open(root, filepath.Base(path), os.O_RDONLY)
	if err != nil {
		return md, err
	}
	content, err := limits.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return md, err
	}
	return parseMetadata(content)
}

// union returns the elements of two lists, each once.
func union(a, b []string) []string {
	all := slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// WithoutParents returns the metadata of session id without the ids of its parents. It adds
// no field.
func WithoutParents(content []byte, id string) []byte {
	null := []byte("null")
	for _, name := range slices.Concat(parentMembers, []string{conflictOf}) {
		content = setOnce(content, name, null)
	}
	if of, ok := pyjson.Lookup(content, sessionID); ok && pyjson.KindOf(of) == pyjson.String && pyjson.Text(of) != "" {
		content = setOnce(content, sessionID, pyjson.Quote(id))
	}
	content = pyjson.Remove(content, sessioncost.Member) // it names the owners of the turns
	fork, _ := pyjson.Lookup(content, forkMember)
	switch {
	case fork == nil || pyjson.KindOf(fork) == pyjson.Null:
		return content
	case pyjson.KindOf(fork) == pyjson.Object:
		return setOnce(content, forkMember, setOnce(fork, forkSource, null))
	}
	return setOnce(content, forkMember, null)
}

// setOnce returns an object in which a field that it has, also several times, has a value. An
// object without the field, or with that value alone, comes back as it is.
func setOnce(obj []byte, name string, value []byte) []byte {
	times, same := 0, true
	for m := range pyjson.Members(obj) {
		if pyjson.KeyIs(m.Key, name) {
			times++
			same = same && bytes.Equal(m.Value, value)
		}
	}
	switch {
	case times == 0 || times == 1 && same:
		return obj
	case times > 1:
		obj = pyjson.Remove(obj, name)
	}
	return pyjson.Splice(obj, name, value)
}
