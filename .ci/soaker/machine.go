package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A need is a program that a part needs, and the packages of Debian that bring it.
type need struct{ program, packages string }

// provide installs the needs of the part that the machine lacks. The error names the
// missing programs.
func (s *soak) provide(ctx context.Context, p part) error {
	programs, packages := lacking(p.needs)
	if len(programs) == 0 {
		return nil
	}
	err := errors.New("only root can install " + strings.Join(packages, " "))
	if s.root {
		err = aptGet(ctx, "update", "-q")
		if err == nil {
			err = aptGet(ctx, append([]string{"install", "-y", "--no-install-recommends"}, packages...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("it needs %s: %w", strings.Join(programs, ", "), err)
	}
	return nil
}

// lacking returns the programs of the list that the machine lacks, and their packages.
func lacking(list []need) (programs, packages []string) {
	for _, n := range list {
		if _, err := exec.LookPath(n.program); err != nil {
			programs = append(programs, n.program)
			packages = append(packages, strings.Fields(n.packages)...)
		}
	}
	return programs, packages
}

// aptGet runs apt-get. The error has the last line of its output.
func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		said := bytes.TrimSpace(out)
		return fmt.Errorf("apt-get %s: %w: %s", args[0], err, said[bytes.LastIndexByte(said, '\n')+1:])
	}
	return nil
}

// clone is the folder of the clone.
func (s *soak) clone() string { return filepath.Join(s.folder, "clone") }

// refresh makes a clone of the newest commit that landed, unless the clone has that commit.
func (s *soak) refresh(ctx context.Context) error {
	commit, err := s.newest(ctx)
	if err != nil || commit == s.commit {
		return err
	}
	if err := os.RemoveAll(s.clone()); err != nil {
		return err
	}
	if _, err := s.git(ctx, "clone", "--quiet", "--no-checkout", s.repository, s.clone()); err != nil {
		return err
	}
	if _, err := s.git(ctx, "-C", s.clone(), "checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	s.commit = commit
	fmt.Fprintln(s.out, "commit", commit)
	return nil
}

// newest returns the newest commit that landed.
func (s *soak) newest(ctx context.Context) (commit string, err error) {
	for _, ref := range []string{"refs/remotes/origin/main", "refs/heads/main", "HEAD"} {
		if commit, err = s.git(ctx, "rev-parse", "--verify", ref+"^{commit}"); err == nil {
			return commit, nil
		}
	}
	return "", err
}

func (s *soak) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = s.repository
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}
