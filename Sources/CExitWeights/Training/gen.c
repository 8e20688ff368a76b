/* seeded synthetic tracks at 1 s */
#define KINDS 20
typedef struct { int n, max; double *x, *y; uint8_t *mv; double px, py, h, v; } G;
static double uni(double a, double b) { return a + (b-a)*ru(); }
static double logu(double a, double b) { return a*exp(ru()*log(b/a)); }
static double expo(double m) { return -m*log(1e-12+ru()); }
static void put(G *g, int mv) { if (g->n >= g->max) return; g->x[g->n] = g->px; g->y[g->n] = g->py; g->mv[g->n] = mv; g->n++; }
static void step(G *g, int mv) { g->px += g->v*cos(g->h); g->py += g->v*sin(g->h); put(g, mv); }
static int full(G *g) { return g->n >= g->max; }
static void rest(G *g, double s, double wig) { /* true small movements of a resting thing: wig = typical step of wandering about */
  g->v = 0; double bx = g->px, by = g->py, nextm = expo(600); for (int i = 0; i < s && !full(g); i++) {
    if (wig > 0 && (nextm -= 1) <= 0) { /* move to another spot indoors */
      double tx = bx+wig*rn(), ty = by+wig*rn(), L = hypot(tx-g->px, ty-g->py), v = uni(0.4,1.1); int k = (int)(L/v)+1; double dx = (tx-g->px)/k, dy = (ty-g->py)/k;
      for (int j = 0; j < k && i < s && !full(g); j++, i++) { g->px += dx; g->py += dy; put(g, 1); }
      nextm = expo(uni(60,1800)); }
    put(g, 0); } }
typedef struct { double vt, vsd, vtau, acc, dec, curv, curvtau, junc, pturn, vturn, stopd, stopmin, stopmax, pstop; } Road;
/* travel some distance with a road's manners */
static void travel(G *g, double dist, Road r) {
  double curv = 0, dj = expo(r.junc), ds = r.stopd > 0 ? expo(r.stopd) : 1e18, ou = 0, done = 0, hold = 0, vlim = r.vt; int turning = 0; double turnleft = 0;
  double road = r.vt*exp(0.15*rn());
  while (done < dist && !full(g)) {
    ou += (-ou/r.vtau) + r.vsd*sqrt(2/r.vtau)*rn(); curv += -curv/r.curvtau + r.curv*sqrt(2/r.curvtau)*rn();
    vlim = road*exp(ou); if (hold > 0) vlim = 0; 
    double rem = dist-done;
    double brk = sqrt(2*r.dec*fmax(rem,0)); if (brk < vlim) vlim = fmax(brk, 0.3);
    if (dj < 400) { double b = sqrt(r.vturn*r.vturn + 2*r.dec*fmax(dj,0)); if (turning == 1 && b < vlim) vlim = b; }
    if (ds < 400) { double b = sqrt(2*r.dec*fmax(ds-1,0)); if (b < vlim) vlim = b; }
    double dv = vlim - g->v; if (dv > r.acc) dv = r.acc*uni(0.6,1); if (dv < -1.5*r.dec) dv = -1.5*r.dec; g->v += dv; if (g->v < 0) g->v = 0;
    if (ds < 2.0 && g->v < 1.0 && hold <= 0) { g->v = 0; int s = (int)uni(r.stopmin, r.stopmax); for (int i = 0; i < s && !full(g); i++) put(g, 0); ds = expo(r.stopd); }
    if (ds < 2.0) ds = fmax(ds, 0.5);
    if (turning == 0 && dj < 300) turning = ru() < r.pturn ? 1 : 2;
    if (dj <= 0) { if (turning == 1) turnleft = (ru() < 0.5 ? 1 : -1)*uni(0.8,2.0); dj = expo(r.junc)+20; turning = 0; if (r.pstop > 0 && ru() < r.pstop) road = r.vt*exp(0.35*rn()); }
    double om = curv; if (turnleft != 0) { double q = turnleft > 0 ? fmin(turnleft, 0.5) : fmax(turnleft, -0.5); om += q; turnleft -= q; if (fabs(turnleft) < 1e-6) turnleft = 0; }
    g->h += om*fmin(1, g->v/fmax(0.3*r.vt,0.1));
    done += g->v; dj -= g->v; if (ds < 1e17) ds -= g->v; if (g->v < 0.05 && vlim < 0.31) { g->v = 0.3; }
    step(g, g->v > 0.05); }
  g->v = 0; }
static Road walkR(double v) { Road r = {v,0.12,30,0.5,0.7,0.03,20,uni(60,250),0.4,v*0.9,logu(120,1500),3,uni(15,60),0.2}; return r; }
static Road hikeR(double v) { Road r = {v,0.25,90,0.4,0.6,uni(0.03,0.15),15,1e9,0,v,logu(300,3000),10,uni(60,400),0}; return r; }
static Road runR(double v) { Road r = {v,0.07,60,0.6,0.8,0.03,20,uni(80,500),0.4,v*0.85,logu(600,8000),3,60,0.1}; return r; }
static Road bikeR(double v) { Road r = {v,0.3,40,0.5,1.2,0.02,15,uni(150,900),0.4,v*0.5,logu(300,6000),4,uni(20,80),0.2}; return r; }
static Road cityR(double v) { Road r = {v,0.15,20,uni(1,2.5),uni(1.2,2.5),0.01,10,uni(120,600),0.4,uni(3,6),logu(150,1200),3,uni(20,90),0.4}; return r; }
static Road jamR(void) { double v = uni(1.5,5); Road r = {v,0.4,10,1,1.5,0.005,10,1000,0.2,3,uni(10,80),2,uni(8,40),0.4}; return r; }
static Road ruralR(double v) { Road r = {v,0.15,30,uni(0.7,1.8),1.5,0.015,12,uni(700,4000),0.35,6,logu(3000,30000),3,30,0.5}; return r; }
static Road mwayR(double v) { Road r = {v,0.06,60,0.7,1,0.002,30,logu(8000,60000),0.1,12,1e5,5,20,0.1}; return r; }
static Road railR(double v, double st) { Road r = {v,0.1,90,uni(0.3,1.1),uni(0.5,1.0),0.001,60,1e9,0,v,0,0,0,0}; (void)st; return r; }
static void rail(G *g, int stops, double v, double sd, double dw) { for (int i = 0; i < stops && !full(g); i++) { travel(g, sd*uni(0.5,1.6), railR(v*uni(0.8,1.05), 0)); rest(g, dw*uni(0.5,1.8), 0); if (ru() < 0.1) { travel(g, 0.3*sd, railR(v*0.4,0)); rest(g, expo(60),0);} } }
/* smooth correlated random walk for secs */
static void crw(G *g, double secs, double v, double vsd, double vtau, double turn, double hx, double hy, double pull) {
  double ou = 0; for (int i = 0; i < secs && !full(g); i++) { ou += -ou/vtau + vsd*sqrt(2/vtau)*rn(); g->h += turn*rn();
    if (pull > 0) { double dx = hx-g->px, dy = hy-g->py, L = hypot(dx,dy), want = atan2(dy,dx), df = sin(want-g->h); g->h += pull*df*fmin(1, L/100); }
    g->v = v*exp(ou); step(g, 1); } g->v = 0; }
static void goto_(G *g, double tx, double ty, double v, double jit) { double L; int guard = 0; while ((L = hypot(tx-g->px, ty-g->py)) > fmax(2*v,2) && !full(g) && guard++ < 40000) {
  double want = atan2(ty-g->py, tx-g->px); double d = sin(want-g->h); if (cos(want-g->h) < 0) d = d > 0 ? 1 : -1; g->h += 0.3*d + jit*rn(); g->v += 0.2*(v-g->v); step(g, 1); } g->v = 0; }
static void trip(G *g, double dist) { /* mixed everyday trip */
  double u = ru();
  if (dist < 1500 || u < 0.15) { travel(g, fmin(dist,3000), walkR(uni(1.0,1.7))); return; }
  if (u < 0.35 && dist < 12000) { travel(g, dist, bikeR(uni(3.5,7))); return; }
  if (u < 0.75) { double d = dist; travel(g, fmin(30+expo(60),300), walkR(1.3)); rest(g, uni(5,60),0);
    while (d > 0 && !full(g)) { double leg = fmin(d, logu(500,15000)); if (ru() < 0.15) travel(g, fmin(leg,600), jamR()); else if (d > 8000 && ru() < 0.5) travel(g, leg, ru() < 0.5 ? mwayR(uni(22,36)) : ruralR(uni(14,25))); else travel(g, fmin(leg,5000), cityR(uni(8,16))); d -= leg; }
    rest(g, uni(5,60),0); travel(g, fmin(20+expo(60),300), walkR(1.3)); return; }
  travel(g, uni(200,900), walkR(uni(1.1,1.6))); rest(g, expo(240), 0);
  { double sd = dist > 15000 ? logu(2000,15000) : uni(300,1200); rail(g, (int)fmax(1,fmin(20,dist/sd)), dist > 15000 ? uni(20,45) : uni(9,18), sd, uni(15,60)); } travel(g, uni(100,900), walkR(uni(1.1,1.6))); }
static void errand(G *g) { travel(g, logu(50,800), walkR(uni(0.9,1.5))); int k = 1+(int)(ru()*4); for (int i = 0; i < k; i++) { rest(g, logu(60,2400), uni(0,15)); travel(g, logu(30,500), walkR(uni(0.8,1.4))); } }

int gen_track(int kind, uint64_t seed, int max, double *x, double *y, double *spd, uint8_t *mot, double *recsig) {
  rs = seed*0x9E3779B97F4A7C15ull + kind*7919; for (int i = 0; i < 5; i++) ru();
  G g; memset(&g, 0, sizeof g); g.max = max; g.x = x; g.y = y; g.mv = mot; g.h = uni(0,6.283);
  put(&g, 0); double hours = uni(0.7,3.5); int lim = (int)(hours*3600); if (lim < max) g.max = lim;
  int day = 0; double indoor = 0;
  if (ru() < 0.3) rest(&g, expo(200), 0);
  switch (kind) {
  case 0: { double v = uni(1,1.7); while (!full(&g)) { travel(&g, logu(200,4000), walkR(v)); if (ru() < 0.7) rest(&g, logu(20,1500), uni(0,8)); if (ru() < 0.3) g.h += 3.14; } break; }
  case 1: { double v = uni(2,4.5); int lap = ru() < 0.25; if (lap) { double R = uni(36,200), a = 0; while (!full(&g)) { a += v*exp(0.05*rn())/R; g.px = R*cos(a); g.py = R*1.6*sin(a); put(&g,1); if (ru() < 0.0005) rest(&g, expo(120),0);} }
    else while (!full(&g)) { travel(&g, logu(500,8000), runR(v)); if (ru() < 0.5) rest(&g, expo(60), 0); if (ru() < 0.3) travel(&g, expo(300), walkR(1.4)); if (ru() < 0.4) g.h += 3.14; } break; }
  case 2: { double v = uni(0.6,1.5); while (!full(&g)) { travel(&g, logu(300,5000), hikeR(v*uni(0.7,1.2))); rest(&g, logu(30,2400), ru() < 0.5 ? 5 : 0); } break; }
  case 3: { double v = uni(3.5,8.5); while (!full(&g)) { travel(&g, logu(1000,20000), bikeR(v*uni(0.8,1.15))); if (ru() < 0.4) rest(&g, logu(30,1800), uni(0,5)); } break; }
  case 4: { double v = uni(8,17); while (!full(&g)) { if (ru() < 0.2) travel(&g, uni(200,2500), jamR()); else travel(&g, logu(800,12000), cityR(v)); if (ru() < 0.3) { rest(&g, uni(5,60),0); if (ru() < 0.7) { errand(&g); } else rest(&g, logu(60,2400),0); } } break; }
  case 5: { while (!full(&g)) { travel(&g, logu(500,3000), cityR(uni(8,14))); travel(&g, logu(5000,60000), ru() < 0.5 ? ruralR(uni(13,26)) : mwayR(uni(20,38))); if (ru() < 0.15) travel(&g, uni(500,4000), jamR()); if (ru() < 0.3) rest(&g, logu(60,2400), 5); } break; }
  case 6: { while (!full(&g)) { rail(&g, 2+(int)(ru()*8), uni(15,80), logu(2500,50000), uni(30,150)); } break; }
  case 7: { while (!full(&g)) { rail(&g, 5+(int)(ru()*15), uni(8,20), uni(300,1800), uni(12,40)); travel(&g, logu(100,1200), walkR(1.4)); rest(&g, logu(60,2000), uni(0,10)); } break; }
  case 8: { /* sailing: legs and tacks */ double wind = uni(0,6.283), v = logu(1,6); while (!full(&g)) { double leg = logu(60,1500); int up = ru() < 0.6; double s = 1; double h0 = g.h; if (up) { s = ru() < 0.5 ? 1 : -1; h0 = wind + s*uni(0.7,0.9); } else h0 = uni(0,6.283);
       int k = up ? 1+(int)(ru()*8) : 1; for (int j = 0; j < k && !full(&g); j++) { double ou = 0; for (int i = 0; i < leg && !full(&g); i++) { double d = sin(h0-g.h); if (cos(h0-g.h) < 0) d = d > 0 ? 1 : -1; g.h += 0.12*d + 0.015*rn(); ou += -ou/60+0.2*sqrt(2/60.)*rn(); double tv = v*exp(ou)*(fabs(d) > 0.5 ? 0.5 : 1); g.v += 0.1*(tv-g.v); step(&g,1); } h0 = wind - (h0-wind); leg *= uni(0.6,1.5); }
       if (ru() < 0.15) crw(&g, logu(60,1200), uni(0.1,0.5), 0.3, 60, 0.1, 0,0,0); if (ru() < 0.1) v = logu(1,7); } break; }
  case 9: { /* at anchor, swinging; sometimes off again */ while (!full(&g)) { double R = logu(8,60), a = uni(0,6.28), w = 0, cx = g.px-R*cos(a), cy = g.py-R*sin(a), T = logu(1200,12000), per = logu(60,600); for (int i = 0; i < T && !full(&g); i++) { w += -w/per + 0.5/per*sqrt(2/per)*rn(); a += w; double rr = R*(0.85+0.1*sin(i/per)); double k = fmin(1, i/120.); g.px += k*(cx+rr*cos(a)-g.px)*0.1; g.py += k*(cy+rr*sin(a)-g.py)*0.1; put(&g,1);} if (ru() < 0.5) { g.v = 0; crw(&g, logu(300,3600), uni(1,6), 0.15, 60, 0.01, 0,0,0);} } break; }
  case 10: { /* area-restricted animal */ double vw = logu(0.2,1.2); double hx = 0, hy = 0; while (!full(&g)) { double u = ru(); if (u < 0.35) rest(&g, logu(60,7200), 0); else if (u < 0.75) { hx = g.px; hy = g.py; crw(&g, logu(300,5000), vw*uni(0.1,0.5), 0.7, 20, uni(0.2,0.8), hx, hy, 0.1);} else goto_(&g, g.px+logu(100,3000)*cos(g.h+rn()), g.py+logu(100,3000)*sin(g.h+rn()), vw*uni(1,2.5), 0.1); } day = ru() < 0.3; break; }
  case 11: { /* birds */ double v = uni(8,20); double nx = 0, ny = 0; while (!full(&g)) { double u = ru(); if (u < 0.3) rest(&g, logu(30,3600), 0); else if (u < 0.6) { double a = uni(0,6.28), L = logu(300,30000); goto_(&g, g.px+L*cos(a), g.py+L*sin(a), v*uni(0.7,1.2), 0.05); } else if (u < 0.75) goto_(&g, nx, ny, v, 0.05); else if (u < 0.9) crw(&g, logu(60,1500), v*0.7, 0.3, 10, uni(0.05,0.4), g.px, g.py, 0.05); else crw(&g, logu(60,1200), uni(0.2,0.6), 0.6, 10, 0.5, g.px, g.py, 0.1); } break; }
  case 12: { /* balloon, drifter */ double v = logu(0.3,30), ou = 0, w = 0; while (!full(&g)) { ou += -ou/900+0.4*sqrt(2/900.)*rn(); w += -w/600 + 0.0008*sqrt(2/600.)*rn()*10; g.h += w*0.1; g.v = v*exp(ou); step(&g,1); } break; }
  case 13: { /* swimming, rowing, paddling */ double v = ru() < 0.5 ? uni(0.5,1.2) : uni(1.5,5); int lane = ru() < 0.3; double L = lane ? uni(25,2000) : 1e9; double d = 0; while (!full(&g)) { g.v += 0.3*(v*exp(0.05*rn())-g.v); g.h += 0.02*rn(); step(&g,1); d += g.v; if (d > L) { g.h += 3.1416; d = 0; if (ru() < 0.2) rest(&g, expo(40),0); } if (ru() < 0.0003) rest(&g, logu(20,600),0); } break; }
  case 14: { /* ski: lift up, runs down */ double a = uni(0,6.28), L = logu(600,3000); while (!full(&g)) { rest(&g, expo(150), 2); double vl = uni(2,6); goto_(&g, g.px+L*cos(a), g.py+L*sin(a), vl, 0.0); rest(&g, expo(60),0); double lx = g.px-L*cos(a), ly = g.py-L*sin(a), ph = 0; while (hypot(lx-g.px, ly-g.py) > 40 && !full(&g)) { ph += uni(0.1,0.5); double want = atan2(ly-g.py, lx-g.px)+1.0*sin(ph); g.h += 0.5*sin(want-g.h) + (cos(want-g.h) < 0 ? 0.5 : 0); g.v += 0.2*(uni(4,16)-g.v); step(&g,1); if (ru() < 0.004) rest(&g, expo(60),0); } g.v = 0; if (ru() < 0.2) rest(&g, logu(300,3600), 8); } break; }
  case 15: { /* deliveries */ while (!full(&g)) { travel(&g, logu(80,3000), cityR(uni(7,14))); rest(&g, uni(5,40),0); if (ru() < 0.7) { travel(&g, uni(10,60), walkR(1.5)); rest(&g, logu(15,200),0); travel(&g, uni(10,60), walkR(1.5)); } rest(&g, uni(5,60),0); if (ru() < 0.05) rest(&g, logu(600,3600), 8);} break; }
  case 16: { /* field machine */ double L = logu(80,600), v = uni(1.5,5), W = uni(3,15); int dir = 1; double yy = 0; while (!full(&g)) { goto_(&g, dir > 0 ? L : 0, yy, v, 0.005); yy += W; dir = -dir; goto_(&g, dir > 0 ? 0 : L, yy, v*0.6, 0.01); if (ru() < 0.05) rest(&g, logu(60,2400), 3); if (yy > 400) yy = 0; } break; }
  default: { /* days of ordinary life */ day = 1; double home[2] = {0,0}; g.max = (int)(uni(5,14)*3600) < max ? (int)(uni(5,14)*3600) : max; indoor = 1; (void)home;
     rest(&g, logu(300,14400), uni(0,8)); while (!full(&g)) { double u = ru(); if (u < 0.5) { trip(&g, logu(400,30000)); rest(&g, logu(300,18000), uni(0,12)); } else if (u < 0.75) { errand(&g); rest(&g, logu(300,9000), uni(0,8)); } else if (u < 0.85) { travel(&g, logu(500,5000), ru() < 0.5 ? walkR(1.3) : runR(3)); rest(&g, logu(600,9000), 5);} else rest(&g, logu(600,14400), uni(0,12)); } break; }
  }
  int n = g.n; (void)day;
  for (int i = 0; i < n; i++) spd[i] = i ? hypot(x[i]-x[i-1], y[i]-y[i-1]) : 0;
  /* what a recorder would have written: slow error, larger at rest and indoors */
  double s = ru() < 0.25 ? 0 : logu(0.3,4), tau = logu(30,300), ox = s*rn(), oy = s*rn(), kk = indoor ? uni(1,5) : uni(0.7,2), still = 0; *recsig = s;
  double jp = indoor && ru() < 0.5 ? 1/logu(300,6000) : 0, jx = 0, jy = 0;
  for (int i = 0; i < n; i++) { still += ((mot[i] ? 0 : 1)-still)/60; double S = s*(1+(kk-1)*still); ox += -ox/tau + S*sqrt(2/tau)*rn(); oy += -oy/tau + S*sqrt(2/tau)*rn(); 
    if (jp > 0 && still > 0.8 && ru() < jp) { double J = logu(5,60), a = uni(0,6.28); jx = J*cos(a); jy = J*sin(a); } jx *= 0.995; jy *= 0.995;
    double sm = 0.3*s*0.1; x[i] += ox+jx+sm*rn(); y[i] += oy+jy+sm*rn(); }
  /* the line: within 2 s of the start, 1 false alarm an hour of 10 s */
  uint8_t prev = mot[0]; int lag = 0, fa = 0; uint8_t *m = malloc(n); memcpy(m, mot, n);
  for (int i = 0; i < n; i++) { if (m[i] && !prev) lag = (int)uni(0,2.99); prev = m[i]; int o = m[i]; if (lag > 0) { o = o && lag <= 0; lag--; } if (ru() < 1/3600.) fa = 10; if (fa > 0) { o = 1; fa--; } mot[i] = o; }
  /* gaps of motion shorter than 3 s are bridged */
  free(m); return n;
}
