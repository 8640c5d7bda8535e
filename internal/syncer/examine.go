package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/gc"
)

// examination is a piece of work on a session that the cloud has, for a call that named it.
type examination struct {
	*sides
	push push
	pull pull
}

// examine enters a session that the cloud has, scans it and reads its head.
func (e *Syncer) examine(ctx context.Context, id string) (*examination, func(), error) {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	s := e.sides(id, Options{Asked: true, Named: true})
	v := &examination{sides: s, push: push{sides: s}, pull: pull{s}}
	v.verdict = e.judgeNow(ctx, id)
	err = v.local.scan(ctx)
	if err == nil {
		err = v.readHead(ctx)
	}
	if err == nil && v.cloud.head == nil {
		err = gc.ErrAbsent
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return v, leave, nil
}

// mayStore returns why the session must not be changed in the cloud, by the rules of the
// directory and those of its lines there.
func (v *examination) mayStore(ctx context.Context) (err error) {
	if v.verdict, err = v.cloud.permit(ctx); err != nil {
		return err
	}
	if v.verdict.kept {
		return ErrLocal
	}
	return errors.Join(v.redactionHolds(), v.cloud.rulesHold())
}
