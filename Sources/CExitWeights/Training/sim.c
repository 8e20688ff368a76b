/* simulator, optimum, label maker */
#include "reference.c"
#include <stdlib.h>
#include <stdint.h>
typedef struct { int n; const double *x, *y, *spd; const uint8_t *valid, *mot; } Track;
static uint64_t rs;
static double ru(void) { rs += 0x9E3779B97F4A7C15ull; uint64_t z = rs; z = (z^(z>>30))*0xBF58476D1CE4E5B9ull; z = (z^(z>>27))*0x94D049BB133111EBull; z ^= z>>31; return (z>>11)*(1.0/9007199254740992.0); }
static double rn(void) { double u = ru(), v = ru(); if (u < 1e-300) u = 1e-300; return sqrt(-2*log(u))*cos(6.283185307179586*v); }

double optimum(int n, const double *x, const double *y, const uint8_t *valid, const Profile *pr, double E, int maxoff) {
  double *best = malloc(sizeof(double)*(n+1)); for (int i = 0; i <= n; i++) best[i] = 1e300;
  int *dd = malloc(sizeof(int)*(maxoff+1)); double *cc = malloc(sizeof(double)*(maxoff+1));
  for (int o = 0; o <= maxoff; o++) { double tt = o ? ceil(profile_ttf(pr, o)-1e-9) : 0; dd[o] = 1+o+(int)tt; cc[o] = pr->trk + pr->bkp*o + pr->acq*tt; }
  best[0] = 0; double end = 1e300, E2 = E*E;
  for (int t = 0; t < n; t++) { if (best[t] >= 1e300) continue;
    int reach = t+1; /* furthest second such that t+1..reach-1 inside => fix at reach allowed */
    int lim = t + dd[maxoff]; if (lim > n) lim = n;
    while (reach < lim) { if (valid[reach]) { double a = x[reach]-x[t], b = y[reach]-y[t]; if (a*a+b*b > E2) break; } reach++; }
    double bt = best[t];
    if (reach >= n) { double z = bt + pr->trk + pr->bkp*(n-1-t > 1 ? n-2-t : 0); if (z < end) end = z; }
    for (int o = 0; o <= maxoff; o++) { int u = t+dd[o]; if (u > reach || u >= n) break; double z = bt+cc[o]; if (z < best[u]) best[u] = z; }
  }
  if (best[n-1] < end) end = best[n-1];
  free(best); free(dd); free(cc); return end;
}
typedef struct { double energy, secs, outside, valid; int fixes; } Stats;
/* expl: probability of a perturbed decision; feat/lab: sample buffers (or 0). pphi: motion share of the planned off after which the clock runs in wall time */
int simulate(int n, const double *x, const double *y, const double *spd, const uint8_t *valid, const uint8_t *mot,
  const Profile *pr, const Net *net, const Params *pa, double E, int useline, double sig, double tau, double sigv, double accrep, uint64_t seed,
  double phi, double rho, double expl, Stats *st, float *feat, float *lab, float *wgt, int maxs, int stride) {
  rs = seed*0x2545F4914F6CDD1Dull + 12345;
  Planner P; planner_init(&P, pr, net, pa, E, useline); int nf = useline ? NFM : NF;
  double nx = sig*rn(), ny = sig*rn(); int tn = 0; int t = 0, ns = 0, lastt = 0, dec = 0; double E2 = E*E;
  memset(st, 0, sizeof *st);
  int lastchg = 0; int scan = 0; (void)lastt;
  double *co = 0, *cv = 0;
  while (t < n) {
    double r = exp(-(t-tn)/tau), q = sqrt(1-r*r); nx = nx*r + sig*q*rn(); ny = ny*r + sig*q*rn(); tn = t;
    double px = x[t]+nx, py = y[t]+ny, v = fabs(spd[t] + sigv*rn());
    double ms = 0; int m = 0; if (useline) { for (int i = lastt+1; i <= t; i++) ms += mot[i]; for (; scan < t; ) { scan++; if (mot[scan] != mot[scan-1]) lastchg = scan; } m = mot[t]; }
    double off = planner_fix(&P, t, px, py, v, accrep, m, ms, t-lastchg); st->fixes++; dec++;
    if (expl > 0 && ru() < expl) { off = floor((off+1)*exp(0.7*rn())); if (off > 7200) off = 7200; if (ru() < 0.1) off = 0; P.lastoff = off; }
    /* samples */
    if (feat && ns < maxs && (dec % stride == 0)) {
      float *F = feat + (size_t)ns*nf, *L = lab + (size_t)ns*NB, *W = wgt + (size_t)ns*NB;
      for (int i = 0; i < nf; i++) F[i] = P.f[i];
      /* clock seconds: without a line the wall clock; with it frozen while still since the fix, 1 in motion, rho while still after motion */
      double c = 0, cumo = 0, cumv = 0, o0 = 0, v0 = 0, edge = BIN[1]*P.T0, rl = useline ? rho : 1; int b = 0, started = !useline || m, nstill = 0;
      for (int s = t+1; s < n && b < NB; s++) {
        double inc = 1; if (useline) { if (mot[s]) started = 1; else if (!started) { if (++nstill > P.hold) started = 1; inc = 0; } else inc = rho; }
        double in = 0; if (valid[s]) { double a = x[s]-px, d = y[s]-py; in = a*a+d*d > E2; }
        if (inc <= 0) { cumo += in*rl; continue; }
        double pc = c, po = cumo, pv = cumv; c += inc; cumo += in*rl; cumv += valid[s]*inc;
        while (b < NB && edge <= c) { double fr = (edge-pc)/inc, oo = po+fr*in*rl, vv = pv+fr*valid[s]*inc;
          double len = (BIN[b+1]-BIN[b])*P.T0; W[b] = (vv-v0)/len; if (W[b] > 1) W[b] = 1; L[b] = vv-v0 > 1e-9 ? (oo-o0)/(vv-v0) : 0; if (L[b] > 1) L[b] = 1; o0 = oo; v0 = vv; b++; if (b < NB) edge = BIN[b+1]*P.T0; }
      }
      for (; b < NB; b++) { W[b] = 0; L[b] = 0; }
      ns++;
    }
    /* next fix */
    int next; double en;
    if (off <= 0) { next = t+1; en = pr->trk; }
    else {
      int o;
      if (!useline) o = (int)off;
      else { double clk = 0, mot_n = 0; int started = m; int s = t+1; /* the fix second runs the clock too, as labels */
        o = 0; double need = off; int still = 0; if (m) mot_n = 1;
        for (s = t+2; s < n+8000; s++) { int mm = s < n ? mot[s] : 0; if (mm) { started = 1; mot_n++; } 
          o++; if (started && mm) clk += 1; else if (started && (mot_n >= phi*need)) clk += rho; else if (++still >= P.hold) break;
          if (clk >= need || s >= n) break; }
      }
      int tt = (int)ceil(profile_ttf(pr, o)-1e-9); next = t+1+o+tt; en = pr->trk + pr->bkp*o + pr->acq*tt;
      if (next >= n) { int rest = n-1-t; en = pr->trk + pr->bkp*(rest-1 > o ? o : (rest > 1 ? rest-1 : 0)) + (rest-1 > o ? pr->acq*(rest-1-o) : 0); }
    }
    int hi = next < n ? next : n;
    for (int s = t+1; s < hi; s++) if (valid[s]) { double a = x[s]-px, b = y[s]-py; st->valid += 1; if (a*a+b*b > E2) st->outside += 1; }
    if (next < n && valid[next]) st->valid += 1;
    st->energy += en; lastt = t; t = next;
  }
  st->secs = n; free(co); free(cv); return ns;
}
int sizes(int k) { return k == 0 ? sizeof(Profile) : k == 1 ? sizeof(Net) : k == 2 ? sizeof(Params) : sizeof(Planner); }
int dims(int k) { int z[] = {NB,NF,NFM,H1,H2}; return z[k]; }
#include "gen.c"
