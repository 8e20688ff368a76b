#include "reference.h"
#include <math.h>
#include <string.h>
static const double TAU[4] = {30,120,480,1800};
static const double MT[3] = {60,300,1800};
static const double RA[3] = {0.35,1.0,3.0};
const double BIN[NB+1] = {0,0.2,0.35,0.5,0.6,0.7,0.8,0.9,1.0,1.12,1.25,1.4,1.6,1.85,2.2,2.7,3.4,4.5,6,8.5,12,18,28,45,80};
const double CAND[NCAND] = {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,24,26,28,30,32,34,36,39,42,45,48,51,55,59,63,67,72,77,82,88,94,101,108,116,124,133,142,152,163,174,186,199,213,228,244,261,279,299,320,342,366,392,419,448,479,513,549,587,628,672,719,769,823,881,943,1009,1080,1156,1237,1324,1417,1516,1622,1736,1858,1988,2127,2276,2435,2605,2787,2982,3191,3414,3653,3909,4183,4476,4789,5124,5483,5867,6278,6717,7187,7200};

double profile_ttf(const Profile *p, double off) {
  if (off <= p->off[0]) return p->ttf[0];
  for (int i = 1; i < p->n; i++) if (off <= p->off[i])
    return p->ttf[i-1] + (p->ttf[i]-p->ttf[i-1])*(off-p->off[i-1])/(p->off[i]-p->off[i-1]);
  return p->ttf[p->n-1];
}
void planner_init(Planner *s, const Profile *pr, const Net *net, const Params *pa, double E, int useline) {
  memset(s, 0, sizeof *s); s->pr = pr; s->net = net; s->pa = *pa; s->E = E; s->useline = useline; s->lastoff = -1;
}
static double lg(double v) { return log(v); }
static void features(Planner *s, double t, double x, double y, double v, double acc, int motion, double mot_s, double since) {
  double dt = 1, dx = 0, dy = 0, D = 0, vc = v, E = s->E, cosang = 0;
  if (s->n == 0) {
    s->tstart = t; s->vprev = v;
    for (int i = 0; i < 4; i++) s->a[i] = v;
    for (int i = 0; i < 3; i++) { s->m[i] = v; s->ax[i] = x; s->ay[i] = y; s->at[i] = t; }
    s->tmove = s->tstill = t; s->fm1 = s->fm2 = v > 0.6; s->mm1 = s->mm2 = motion;
  } else {
    dt = t - s->t; if (dt < 0.5) dt = 0.5;
    dx = x - s->x; dy = y - s->y; D = hypot(dx, dy); vc = D/dt;
    /* energy so far */
    if (s->lastoff <= 0) s->energy += s->pr->trk*dt;
    else { double tt = profile_ttf(s->pr, dt-1), o = dt-1-tt; if (o < 0) { o = 0; tt = dt-1; }
      s->energy += s->pr->trk + s->pr->bkp*o + s->pr->acq*tt; }
    s->time += dt;
    /* violation as revealed by this fix: left at a straight run, the share of the cycle beyond E */
    if (D > E) s->viol += (1 - E/D)*(dt - 1);
    for (int i = 0; i < 4; i++) { double e = exp(-dt/TAU[i]);
      s->a[i] = vc + (s->a[i]-vc)*e; double k = TAU[i]*(1-e)/dt;
      s->qx[i] = dx*k + s->qx[i]*e; s->qy[i] = dy*k + s->qy[i]*e; }
    double vo = v > vc ? v : vc;
    for (int i = 0; i < 3; i++) { double z = s->m[i]*exp(-dt/MT[i]); s->m[i] = vo > z ? vo : z; }
    for (int i = 0; i < 3; i++) if (hypot(x-s->ax[i], y-s->ay[i]) > fmax(RA[i]*E, 2.5*acc)) { s->ax[i] = x; s->ay[i] = y; s->at[i] = t; }
    if (vo > 0.6) s->tmove = t; 
    if (v < 0.6) s->tstill = t;
    double mv = vo > 0.6, e1 = exp(-dt/600), e2 = exp(-dt/3600);
    s->fm1 = mv + (s->fm1-mv)*e1; s->fm2 = mv + (s->fm2-mv)*e2;
    double ex = D/E; if (ex > 2) ex = 2; s->exc += 0.15*(ex - s->exc);
    double ms = mot_s/dt; if (ms > 1) ms = 1; s->mvl = ms;
    double e3 = exp(-dt/120), e4 = exp(-dt/1200); s->mm1 = ms + (s->mm1-ms)*e3; s->mm2 = ms + (s->mm2-ms)*e4;
    if (D > 1e-9 && s->pD > 1e-9) cosang = (dx*s->pdx+dy*s->pdy)/(D*s->pD);
  }
  double Ee = E - 0.5*acc; if (Ee < 0.3*E) Ee = 0.3*E;
  double vr = v; if (vc > vr) vr = vc; if (0.5*s->m[1] > vr) vr = 0.5*s->m[1]; if (0.25*s->m[2] > vr) vr = 0.25*s->m[2]; if (vr < 0.4) vr = 0.4;
  s->vref = vr; double T0 = Ee/vr; s->T0 = T0;
  double *f = s->f; int k = 0; double lr = lg(vr);
  f[k++] = lg(E); f[k++] = lg(T0);
  f[k++] = lg(v+0.1)-lr; f[k++] = lg(s->vprev+0.1)-lr; f[k++] = lg(vc+0.1)-lr;
  for (int i = 0; i < 3; i++) f[k++] = lg(s->m[i]+0.1)-lr;
  for (int i = 0; i < 4; i++) f[k++] = lg(s->a[i]+0.1)-lr;
  for (int i = 0; i < 4; i++) f[k++] = lg(0.05+hypot(s->qx[i], s->qy[i])/E);
  for (int i = 0; i < 3; i++) f[k++] = lg((t-s->at[i]+2)/T0);
  f[k++] = lg(dt/T0); f[k++] = lg(0.03+D/E);
  f[k++] = lg((t-s->tmove+2)/T0); f[k++] = lg((t-s->tstill+2)/T0);
  f[k++] = s->fm1; f[k++] = s->fm2; f[k++] = lg(t-s->tstart+2); f[k++] = lg(0.03+acc/E); f[k++] = s->exc; f[k++] = cosang;
  f[k++] = (v - s->vprev)/vr*(dt < 5 ? 1 : 5/dt); f[k++] = lr;
  if (s->useline) { f[k++] = motion; f[k++] = s->mvl; f[k++] = s->mm1; f[k++] = s->mm2; f[k++] = lg((since+2)/T0)*(motion ? 1 : -1); }
  s->pdx = dx; s->pdy = dy; s->pD = D; s->vprev = v; s->t = t; s->x = x; s->y = y; s->n++;
}
static void infer(const Net *n, const double *f, double *p) {
  float h[NFM], a[H1], b[H2];
  for (int i = 0; i < n->nin; i++) { float z = ((float)f[i]-n->mu[i])*n->sd[i]; h[i] = z > 4 ? 4 : z < -4 ? -4 : z; }
  for (int j = 0; j < H1; j++) { float z = n->b1[j]; for (int i = 0; i < n->nin; i++) z += n->w1[j*n->nin+i]*h[i]; a[j] = z > 0 ? z : 0.05f*z; }
  for (int j = 0; j < H2; j++) { float z = n->b2[j]; for (int i = 0; i < H1; i++) z += n->w2[j*H1+i]*a[i]; b[j] = z > 0 ? z : 0.05f*z; }
  for (int j = 0; j < NB; j++) { float z = n->b3[j]; for (int i = 0; i < H2; i++) z += n->w3[j*H2+i]*b[i]; p[j] = 1/(1+exp(-(double)z)); }
}
static double mid(int b) { return 0.5*(BIN[b]+BIN[b+1]); }
double planner_fix(Planner *s, double t, double x, double y, double v, double acc, int motion, double mot_s, double since) {
  features(s, t, x, y, v, acc, motion, mot_s, since);
  double E = s->E; const Profile *pr = s->pr;
  s->hold = fmin(7200, fmax(300, t - s->at[0]));   /* how long a still line is believed: as long as the rest is already known */
  if (s->pa.heuristic) {
    double ve, cap = 3600, k = 1;
    if (s->pa.heuristic == 1) ve = fmax(fmax(s->a[0], v), 0.5);
    else if (s->pa.heuristic == 2) { ve = fmax(1.3*fmax(s->a[0], v), 1.5); cap = 120; }
    else { ve = fmax(fmax(s->m[0], v)*1.1, 0.4); k = s->pa.shrink; }
    if (ve < 0.01) ve = 0.01;
    double T = (E - 5)/ve*k, off = T - 1; if (E < 20) off = 0.7*E/ve*k;
    off = off - profile_ttf(pr, off); if (off > cap) off = cap;
    if (off < 1) { off = 0; }
    s->lastoff = off; return floor(off);
  }
  infer(s->net, s->f, s->p);
  /* cumulative of p over time */
  double lam = s->pa.mu_price*(s->energy + s->pa.e0)/(s->time + s->pa.t0);
  if (s->pa.guard_gain > 0) { double g = (s->viol + 0.003*1800)/(0.003*(s->time + 1800)); if (g < 0.6) g = 0.6; if (g > 5) g = 5; lam *= pow(g, s->pa.guard_gain); }
  if (lam < s->pa.lam_min) lam = s->pa.lam_min;
  double Ee = E - 0.5*acc; if (Ee < 0.3*E) Ee = 0.3*E;
  double best = 1e300, bo = 0, cum = 0, pl = 0, tl = 0; int b = 0;
  for (int c = s->useline && !motion ? 1 : 0; c < NCAND; c++) {
    double off = CAND[c], tt = off > 0 ? profile_ttf(pr, s->useline && !motion && off < 600 ? 600 : off) : 0;
    double d = 1 + off + tt, en = pr->trk + pr->bkp*off + pr->acq*tt, T = d - 1, V = 0;
    /* p runs straight between the middles of the bins; from 0 at the fix */
    while (b < NB && mid(b)*s->T0 < T) { cum += 0.5*(pl + s->p[b])*(mid(b)*s->T0 - tl); pl = s->p[b]; tl = mid(b)*s->T0; b++; }
    double ph = b < NB ? pl + (s->p[b]-pl)*(T-tl)/(mid(b)*s->T0-tl) : pl;
    V = (cum + 0.5*(pl+ph)*(T-tl))*(s->useline ? 1/s->pa.shrink : 1);
    if (v*T + 0.5*s->pa.amax*T*T < Ee) V = 0;
    double J = (en + lam*V)/d;
    if (J < best) { best = J; bo = off; }
  }
  s->lastoff = bo; return bo;
}
