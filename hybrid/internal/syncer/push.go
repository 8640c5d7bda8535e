package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
)

// build stores what the action sends of the transcript, and what is new of logs
// and files.
func (v *work) build(ctx context.Context, a syncplan.Action) (*draft, error) {
	p := &draft{next: v.nextHead(), uploads: v.cloud.uploader()}
	if v.cloud.head != nil {
		p.rules = v.cloud.head.RulesOf(segment.Transcript)
	} else {
		p.uploads.first = &firstUpload{began: v.began}
		if v.cloud.version == "" {
			p.uploads.first.announce = func(ctx context.Context) error { return v.cloud.writeEntry(ctx, p.next) }
		}
	}
	if err := v.buildMain(ctx, a, p); err != nil {
		return nil, err
	}
	if !v.local.present {
		return p, nil
	}
	logs := false
	if !v.fetches {
		var err error
		if logs, err = v.pushLogs(ctx, p); err != nil {
			return nil, err
		}
		kept, err := v.pushKept(ctx, p.next, p.uploads)
		if err != nil {
			return nil, err
		}
		logs = logs || kept
	}
	files, err := v.pushFiles(ctx, p.next, p.uploads, !v.fetches)
	if !p.changed && !files && v.cloud.head != nil {
		p.next.Updated = v.cloud.head.Updated // logs alone move no session in lists
	}
	p.changed = p.changed || logs || files
	return p, err
}

func (v *work) buildMain(ctx context.Context, a syncplan.Action, p *draft) error {
	if v.fetches && (a.Kind == syncplan.Create || a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite) {
		return nil
	}
	switch a.Kind {
	case syncplan.Create:
		return v.buildNew(ctx, p)
	case syncplan.Push:
		return v.buildFrom(ctx, v.cloud.head.Transcript.N, p)
	case syncplan.Rewrite:
		return v.buildRewrite(ctx, a, p)
	case syncplan.Diverge, syncplan.Record:
		return v.buildBranch(ctx, a, p)
	}
	return nil
}

// buildNew stores the transcript of a session that the cloud does not have.
func (v *work) buildNew(ctx context.Context, p *draft) error {
	if md, err := v.Store.Metadata(ctx, v.id); err == nil && !v.verdict.Secret {
		p.next.Parent = md.Text("parent_id")
	}
	p.changed = true
	return v.buildFrom(ctx, 0, p)
}
